# The Python package as files: the component `python`, which scripts/package makes the Debian package
# python3-attnscope of, and python/build_wheel.py a wheel (`pip install .`). Both take the version from
# here.
if(EXISTS /etc/debian_version)
  set(site_folder lib/python3/dist-packages)
else()  # Fedora's interpreter has a scheme for packages: lib64, without /usr/local
  execute_process(COMMAND ${ATTNSCOPE_PYTHON_INTERPRETER} -c
    "import sysconfig as s; n = 'rpm_prefix' if 'rpm_prefix' in s.get_scheme_names() else 'posix_prefix'; \
print(s.get_path('platlib', n, {'base': '', 'platbase': ''}).lstrip('/'))"
    OUTPUT_VARIABLE site_folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
set(ATTNSCOPE_PYTHON_FOLDER ${site_folder} CACHE STRING "Folder of Python's packages, below the prefix")
set(python_modules ${ATTNSCOPE_PYTHON_FOLDER})
set(python_info ${python_modules}/attnscope-${PROJECT_VERSION}.dist-info)

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/METADATA CONTENT
"Metadata-Version: 2.1
Name: attnscope
Version: ${PROJECT_VERSION}
Summary: ${PROJECT_DESCRIPTION}
License: GPL-3.0-or-later
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: tables
Requires-Dist: pandas; extra == 'tables'
Description-Content-Type: text/markdown

Runs transformers, attention mechanisms and analyses of attention maps on NumPy arrays. `help(attnscope)`
lists the functions.
")
install(TARGETS attnscope_python LIBRARY DESTINATION ${python_modules}/attnscope
  COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY python/attnscope DESTINATION ${python_modules}
  COMPONENT python EXCLUDE_FROM_ALL PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/package/METADATA DESTINATION ${python_info}
  COMPONENT python EXCLUDE_FROM_ALL)
