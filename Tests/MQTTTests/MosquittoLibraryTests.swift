import CMosquitto
import Testing

@testable import MQTT

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
      (\.connect, \.connect),
      (\.reconnect, \.reconnect),
      (\.disconnect, \.disconnect),
      (\.publish, \.publish),
      (\.loop, \.loop),
      (\.socket, \.socket),
      (\.wantWrite, \.want_write),
      (\.maxInflightMessagesSet, \.max_inflight_messages_set),
      (\.connectCallbackSet, \.connect_callback_set),
      (\.disconnectCallbackSet, \.disconnect_callback_set),
      (\.publishCallbackSet, \.publish_callback_set),
      (\.logCallbackSet, \.log_callback_set),
      (\.strerror, \.strerror),
      (\.connackString, \.connack_string),
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
    #expect(MosquittoNumber.success == MOSQ_ERR_SUCCESS.rawValue)
    #expect(MosquittoNumber.notConnected == MOSQ_ERR_NO_CONN.rawValue)
    #expect(MosquittoNumber.connectionLost == MOSQ_ERR_CONN_LOST.rawValue)
    #expect(MosquittoNumber.tls == MOSQ_ERR_TLS.rawValue)
    #expect(MosquittoNumber.systemError == MOSQ_ERR_ERRNO.rawValue)
    #expect(MosquittoNumber.unknownName == MOSQ_ERR_EAI.rawValue)
    #expect(MosquittoNumber.usesCertificatesOfSystem == MOSQ_OPT_TLS_USE_OS_CERTS.rawValue)
    #expect(MosquittoNumber.isError == MOSQ_LOG_ERR)
  }
}
