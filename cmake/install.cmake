# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# What `cmake --install` leaves behind: headers, libraries, the tool, and a package whose targets
# are outsize::outsize (everything) and one for each module.

include(CMakePackageConfigHelpers)

add_custom_target(outsize_modules)
add_library(outsize_outsize INTERFACE)
add_library(outsize::outsize ALIAS outsize_outsize)
set_target_properties(outsize_outsize PROPERTIES EXPORT_NAME outsize)
install(TARGETS outsize_outsize EXPORT outsize_targets)

get_property(modules GLOBAL PROPERTY OUTSIZE_MODULES)
foreach(module IN LISTS modules)
  target_link_libraries(outsize_outsize INTERFACE outsize_${module})
  add_dependencies(outsize_modules outsize_${module})
  set(generated)
  if(module STREQUAL "base")
    set(generated FILE_SET generated_headers)
  endif()
  install(TARGETS outsize_${module} EXPORT outsize_targets
    ARCHIVE FILE_SET HEADERS FILE_SET headers_with_source ${generated})
endforeach()

if(TARGET outsize)
  install(TARGETS outsize RUNTIME)
endif()

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/outsize")
install(EXPORT outsize_targets NAMESPACE outsize:: DESTINATION "${package_folder}")
configure_package_config_file(cmake/outsizeConfig.cmake.in
  "${PROJECT_BINARY_DIR}/outsizeConfig.cmake" INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/outsizeConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(
  FILES
    "${PROJECT_BINARY_DIR}/outsizeConfig.cmake"
    "${PROJECT_BINARY_DIR}/outsizeConfigVersion.cmake"
  DESTINATION "${package_folder}")
foreach(dependency IN ITEMS threads fmt hwy uring xxhash boost fftw openblas compression)
  install(FILES cmake/thirdparty/get_${dependency}.cmake
    DESTINATION "${package_folder}/thirdparty")
endforeach()
