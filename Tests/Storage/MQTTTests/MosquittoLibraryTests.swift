import CHaloMosquitto
import Testing

@testable import HaloMQTT

/// What is declared in Swift is what mosquitto.h says: what no compiler checks.
@Suite struct MosquittoLibraryTests {
  private typealias Swift = MosquittoFunctions
  private typealias Header = halo_mosquitto

  @Test func functionsAreThoseOfTheHeader() {
    let pairs: [(PartialKeyPath<Swift>, PartialKeyPath<Header>)] = [
      (\.libInit, \.lib_init),
      (\.make, \.new),
      (\.destroy, \.destroy),
      (\.willSet, \.will_set),
      (\.usernamePwSet, \.username_pw_set),
      (\.userDataSet, \.user_data_set),
      (\.tlsSet, \.tls_set),
      (\.connectBindV5, \.connect_bind_v5),
      (\.subscribe, \.subscribe),
      (\.disconnect, \.disconnect),
      (\.publish, \.publish),
      (\.loop, \.loop),
      (\.socket, \.socket),
      (\.wantWrite, \.want_write),
      (\.maxInflightMessagesSet, \.max_inflight_messages_set),
      (\.connectV5CallbackSet, \.connect_v5_callback_set),
      (\.disconnectV5CallbackSet, \.disconnect_v5_callback_set),
      (\.publishV5CallbackSet, \.publish_v5_callback_set),
      (\.subscribeCallbackSet, \.subscribe_callback_set),
      (\.logCallbackSet, \.log_callback_set),
      (\.strerror, \.strerror),
      (\.connackString, \.connack_string),
      (\.reasonString, \.reason_string),
      (\.propertyAddInt32, \.property_add_int32),
      (\.propertyFreeAll, \.property_free_all),
    ]
    for (ours, header) in pairs {
      #expect(type(of: ours).valueType == type(of: header).valueType, "\(ours)")
    }
    // The enumeration of its option is an integer in Swift.
    #expect(MemoryLayout<mosq_opt_t>.size == MemoryLayout<UInt32>.size)
    #expect(
      type(of: \Header.int_option).valueType
        == (@convention(c) (OpaquePointer?, mosq_opt_t, Int32) -> Int32).self)
  }

  @Test func numbersAreThoseOfTheHeader() {
    let results: [(Int32, mosq_err_t)] = [
      (MosquittoNumber.success, MOSQ_ERR_SUCCESS), (MosquittoNumber.protocolError, MOSQ_ERR_PROTOCOL),
      (MosquittoNumber.malformed, MOSQ_ERR_INVAL),
      (MosquittoNumber.connectionLost, MOSQ_ERR_CONN_LOST), (MosquittoNumber.tls, MOSQ_ERR_TLS),
      (MosquittoNumber.tooLarge, MOSQ_ERR_PAYLOAD_SIZE), (MosquittoNumber.systemError, MOSQ_ERR_ERRNO),
      (MosquittoNumber.unknownName, MOSQ_ERR_EAI), (MosquittoNumber.notUTF8, MOSQ_ERR_MALFORMED_UTF8),
      (MosquittoNumber.noQoS, MOSQ_ERR_QOS_NOT_SUPPORTED),
      (MosquittoNumber.overLimit, MOSQ_ERR_OVERSIZE_PACKET),
      (MosquittoNumber.noRetain, MOSQ_ERR_RETAIN_NOT_SUPPORTED),
    ]
    for (ours, header) in results { #expect(ours == header.rawValue) }
    #expect(MosquittoNumber.protocolVersion == MOSQ_OPT_PROTOCOL_VERSION.rawValue)
    #expect(MosquittoNumber.receiveMaximum == MOSQ_OPT_RECEIVE_MAXIMUM.rawValue)
    #expect(MosquittoNumber.usesCertificatesOfSystem == MOSQ_OPT_TLS_USE_OS_CERTS.rawValue)
    #expect(MosquittoNumber.version311 == MQTT_PROTOCOL_V311)
    #expect(MosquittoNumber.version5 == MQTT_PROTOCOL_V5)
    #expect(MosquittoNumber.maximumPacketSize == Int32(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue))
    #expect(MosquittoNumber.isError == MOSQ_LOG_ERR)
  }

  /// The layout of a message is read at fixed places, and its callback has no type in Swift but that of a pointer.
  @Test func theLayoutIsThatOfTheHeader() {
    typealias Message = mosquitto_message
    #expect(MosquittoLayout.topicOffset == MemoryLayout<Message>.offset(of: \.topic))
    #expect(MosquittoLayout.payloadOffset == MemoryLayout<Message>.offset(of: \.payload))
    #expect(MosquittoLayout.payloadLengthOffset == MemoryLayout<Message>.offset(of: \.payloadlen))
    #expect(MosquittoLayout.retainOffset == MemoryLayout<Message>.offset(of: \.retain))
    #expect(
      type(of: \Header.message_callback_set).valueType
        == (@convention(c) (
          OpaquePointer?,
          (
            @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafePointer<mosquitto_message>?) ->
              Void
          )?
        ) -> Void).self)
  }
}
