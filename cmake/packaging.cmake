# Files that `cmake --install` installs and `cpack -G DEB` packages. scripts/package checks the
# result.
set(ATTNSCOPE_MAINTAINER
  "Attnscope maintainers <maintainers@users.noreply.a-seed-a61ecc6e.example>")
set(package ${PROJECT_SOURCE_DIR}/assets/package)
set(made ${PROJECT_BINARY_DIR}/package)
set(id io.github.attnscope.Attnscope)

configure_file(${package}/${id}.metainfo.xml.in ${made}/${id}.metainfo.xml @ONLY)
configure_file(${package}/changelog.in ${made}/changelog @ONLY)

# The program itself writes the manual page and the completions from its options.
add_custom_command(
  OUTPUT ${made}/attnscope.1.gz ${made}/changelog.gz ${made}/completion.bash ${made}/_attnscope
         ${made}/attnscope.fish
  COMMAND attnscope man > ${made}/attnscope.1
  COMMAND gzip -9nf ${made}/attnscope.1
  COMMAND gzip -9nkf ${made}/changelog
  COMMAND attnscope completion bash > ${made}/completion.bash
  COMMAND attnscope completion zsh > ${made}/_attnscope
  COMMAND attnscope completion fish > ${made}/attnscope.fish
  DEPENDS attnscope ${made}/changelog
  COMMENT "Writing the manual page and the completions"
  VERBATIM)
add_custom_target(attnscope_package_text ALL DEPENDS ${made}/attnscope.1.gz)

set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
install(FILES ${package}/${id}.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES ${made}/${id}.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES ${package}/attnscope-mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages
  RENAME attnscope.xml)
install(FILES assets/attnscope.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES ${made}/attnscope.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${made}/completion.bash RENAME attnscope
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${made}/_attnscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${made}/attnscope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY sample_data/models sample_data/inputs
  DESTINATION ${CMAKE_INSTALL_DATADIR}/attnscope/sample_data PATTERN LICENSE EXCLUDE)
install(FILES ${package}/copyright ${made}/changelog.gz README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "${ATTNSCOPE_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "microscope for transformer attention")
set(CPACK_PACKAGE_DESCRIPTION
"Attnscope opens the weight file of a transformer and shows what its attention
is: its maps, its rank, its position biases, and what it costs in operations
and energy. Another attention can be laid over the same weights and seen beside
the first. Figures are written for papers as PDF, SVG, PNG and PGFPlots.
Nothing in a weight file is ever executed.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-dejavu-core")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter, fonts-jetbrains-mono, libgl1-mesa-dri")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_STRIP_FILES ON)
include(CPack)
