/* Opens regular files only: opening a FIFO would block, and a device may never end. */
#ifndef GPUOPT_INFILE_H
#define GPUOPT_INFILE_H

/* Opens the file for reading. Returns NULL, or why it cannot be opened. */
const char *infile_open(const char *path, int *fd);

#endif
