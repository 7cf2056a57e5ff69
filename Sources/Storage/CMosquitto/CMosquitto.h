// mosquitto.h, with which tests compare the declarations of MQTT/MosquittoLibrary.swift.
#pragma once

#include <mosquitto.h>
#include <mqtt_protocol.h>

// The functions that are used, as mosquitto.h declares them.
#define HALO_MOSQUITTO_FUNCTIONS(each) \
  each(lib_init) \
  each(new) \
  each(destroy) \
  each(will_set) \
  each(username_pw_set) \
  each(int_option) \
  each(user_data_set) \
  each(tls_set) \
  each(connect_bind_v5) \
  each(disconnect) \
  each(publish) \
  each(subscribe) \
  each(loop) \
  each(socket) \
  each(want_write) \
  each(max_inflight_messages_set) \
  each(connect_v5_callback_set) \
  each(disconnect_v5_callback_set) \
  each(publish_v5_callback_set) \
  each(subscribe_callback_set) \
  each(message_callback_set) \
  each(log_callback_set) \
  each(strerror) \
  each(connack_string) \
  each(reason_string) \
  each(property_add_int32) \
  each(property_free_all)

struct halo_mosquitto {
#define HALO_MOSQUITTO_MEMBER(name) __typeof__(mosquitto_##name) *_Nonnull name;
  HALO_MOSQUITTO_FUNCTIONS(HALO_MOSQUITTO_MEMBER)
#undef HALO_MOSQUITTO_MEMBER
};
