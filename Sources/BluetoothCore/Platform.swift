// All modules import this one: a build on another system stops at it.
#if !os(Linux)
  #error(
    "halo-raw is for Linux: in Package.swift, write .product(name: \"HaloRaw\", package: \"halo-raw\", condition: .when(platforms: [.linux])), and #if os(Linux) around what imports it"
  )
#endif
