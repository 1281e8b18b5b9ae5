# Comments of headers for Doxygen: they hold no commands, so that what looks like one is escaped.
/^ *\/\//,$ {
  /\/\// {
    s/\\/\\\\/g
    s/@/\\@/g
    s/<\([a-z/|]\)/\\<\1/g
    s/\(\/\/.*[^&]\)#/\1\\#/g
  }
}
# The first lines say what the file is.
1,/^#pragma/ s,^//,///,
1 s,^///,/// @file\n///,
