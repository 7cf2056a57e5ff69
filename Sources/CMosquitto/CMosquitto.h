// mosquitto.h, with which tests compare the declarations of MQTT/MosquittoLibrary.swift.
#pragma once

#include <mosquitto.h>

// The functions that are used, as mosquitto.h declares them.
#define HALO_MOSQUITTO_FUNCTIONS(each) \
  each(lib_init) \
  each(new) \
  each(destroy) \
  each(will_set) \
  each(username_pw_set) \
  each(int_option) \
  each(user_data_set) \
  each(connect) \
  each(reconnect) \
  each(disconnect) \
  each(publish) \
  each(loop) \
  each(socket) \
  each(want_write) \
  each(max_inflight_messages_set) \
  each(connect_callback_set) \
  each(disconnect_callback_set) \
  each(publish_callback_set) \
  each(log_callback_set) \
  each(strerror) \
  each(connack_string)

struct halo_mosquitto {
#define HALO_MOSQUITTO_MEMBER(name) __typeof__(mosquitto_##name) *_Nonnull name;
  HALO_MOSQUITTO_FUNCTIONS(HALO_MOSQUITTO_MEMBER)
#undef HALO_MOSQUITTO_MEMBER
};
