#!/bin/sh
# Prints an assembler file with the files named on standard input, one per line, and the table
# embedded_files[] that embed.c reads. Assemble it in the folder that the names are relative to:
#     printf '%s\n' gen/devices/*.toml | LC_ALL=C sort | gen/base/embed.sh > build/embed.S
# The hashes are computed once, here, rather than each time the compiler writes the files.
echo '    .section .rodata'
echo '    .globl embedded_files, embedded_file_count'
xargs -d '\n' sha256sum | awk '
    { hash[NR] = $1; path[NR] = substr($0, 67) }
    END {
        for (i = 1; i <= NR; i++) {
            printf "path_%d: .asciz \"%s\"\nhash_%d: .asciz \"%s\"\n", i, path[i], i, hash[i]
            printf "text_%d: .incbin \"%s\"\nend_%d: .byte 0\n", i, path[i], i
        }
        print "    .section .data.rel.ro.local, \"aw\""
        print "    .balign 8\nembedded_files:"
        for (i = 1; i <= NR; i++)
            printf "    .quad path_%d, text_%d, end_%d - text_%d, hash_%d\n", i, i, i, i, i
        print "    .section .rodata\n    .balign 4"
        printf "embedded_file_count: .long %d\n", NR
    }'
echo '    .section .note.GNU-stack, "", @progbits'
