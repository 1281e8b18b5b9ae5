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

# Debian's zsh looks for the completions of packages in a folder of its own.
if(EXISTS /etc/debian_version)
  set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
else()
  set(zsh_folder ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
set(ATTNSCOPE_ZSH_FOLDER ${zsh_folder} CACHE STRING "Folder of zsh's completions, below the prefix")

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
install(FILES ${made}/_attnscope DESTINATION ${ATTNSCOPE_ZSH_FOLDER})
install(FILES ${made}/attnscope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY sample_data/models sample_data/inputs
  DESTINATION ${CMAKE_INSTALL_DATADIR}/attnscope/sample_data PATTERN LICENSE EXCLUDE)
install(FILES ${package}/copyright ${made}/changelog.gz README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGE_CONTACT "${ATTNSCOPE_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME attnscope)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
"microscope for transformer attention
Attnscope opens the weight file of a transformer and shows what its attention
is: its maps, its rank, its position biases, and what it costs in operations
and energy. Another attention can be laid over the same weights and seen beside
the first. Figures are written for papers as PDF, SVG, PNG and PGFPlots.
Nothing in a weight file is ever executed.")
# OpenBLAS stands first: it is also the BLAS and LAPACK that liblapacke asks for, and apt would
# otherwise install libblas3 and liblapack3, which nothing uses.
set(openblas "libopenblas0-pthread | libopenblas0")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${openblas}, fonts-dejavu-core")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "fonts-inter, fonts-jetbrains-mono")

if(ATTNSCOPE_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-attnscope)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION
"microscope for transformer attention: Python module
The module attnscope runs transformers, attention mechanisms and analyses of
attention maps on NumPy arrays: spectra, ranks, statistics of heads, and
comparisons. It records the attention of running PyTorch models. The package
attnscope has the program with its window.")
  # The module is for one minor version of Python.
  math(EXPR next "${ATTNSCOPE_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "${openblas}, python3 (>= 3.${ATTNSCOPE_PYTHON_MINOR}), python3 (<< 3.${next}), python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "attnscope, python3-pandas, python3-torch, python3-tqdm")
  # Python's own compiler of modules, and their removal.
  file(CONFIGURE OUTPUT ${made}/python/postinst @ONLY CONTENT
    "#!/bin/sh\nset -e\nif [ \"$1\" = configure ]; then py3compile -p python3-attnscope; fi\n")
  file(CONFIGURE OUTPUT ${made}/python/prerm @ONLY CONTENT
    "#!/bin/sh\nset -e\npy3clean -p python3-attnscope\n")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${made}/python/postinst;${made}/python/prerm")
  install(FILES ${package}/copyright ${made}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/python3-attnscope COMPONENT python EXCLUDE_FROM_ALL)
endif()
include(CPack)
