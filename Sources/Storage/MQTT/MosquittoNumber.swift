/// Numbers of mosquitto.h and mqtt_protocol.h, each with its name there.
enum MosquittoNumber {
  static let success: Int32 = 0  // MOSQ_ERR_SUCCESS
  static let protocolError: Int32 = 2  // MOSQ_ERR_PROTOCOL
  static let malformed: Int32 = 3  // MOSQ_ERR_INVAL
  static let connectionLost: Int32 = 7  // MOSQ_ERR_CONN_LOST
  static let tls: Int32 = 8  // MOSQ_ERR_TLS
  static let tooLarge: Int32 = 9  // MOSQ_ERR_PAYLOAD_SIZE
  static let systemError: Int32 = 14  // MOSQ_ERR_ERRNO
  static let unknownName: Int32 = 15  // MOSQ_ERR_EAI
  static let notUTF8: Int32 = 18  // MOSQ_ERR_MALFORMED_UTF8
  static let noQoS: Int32 = 24  // MOSQ_ERR_QOS_NOT_SUPPORTED
  static let overLimit: Int32 = 25  // MOSQ_ERR_OVERSIZE_PACKET
  static let noRetain: Int32 = 28  // MOSQ_ERR_RETAIN_NOT_SUPPORTED
  static let protocolVersion: UInt32 = 1  // MOSQ_OPT_PROTOCOL_VERSION
  static let receiveMaximum: UInt32 = 4  // MOSQ_OPT_RECEIVE_MAXIMUM
  static let usesCertificatesOfSystem: UInt32 = 13  // MOSQ_OPT_TLS_USE_OS_CERTS
  static let version311: Int32 = 4  // MQTT_PROTOCOL_V311
  static let version5: Int32 = 5  // MQTT_PROTOCOL_V5
  static let maximumPacketSize: Int32 = 39  // MQTT_PROP_MAXIMUM_PACKET_SIZE
  static let isError: Int32 = 8  // MOSQ_LOG_ERR
}

/// Layouts of mosquitto.h.
enum MosquittoLayout {
  /// In struct mosquitto_message, in bytes.
  static let topicOffset = 8
  static let payloadOffset = 16
  static let payloadLengthOffset = 24
  static let retainOffset = 32
}
