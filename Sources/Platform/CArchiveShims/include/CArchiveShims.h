// libarchive, loaded when it is first used: it brings eleven libraries with it (libxml2, ICU, nettle, ...), which every
// program of ours would pay for at each start, and hardly any start reads an archive. No logic besides that.
#pragma once

#include <archive.h>
#include <archive_entry.h>

// The functions that are used; each is called by its own name.
#define CARCHIVE_SHIMS_FUNCTIONS(FUNCTION) \
    FUNCTION(archive_entry_clear) \
    FUNCTION(archive_entry_filetype) \
    FUNCTION(archive_entry_free) \
    FUNCTION(archive_entry_hardlink) \
    FUNCTION(archive_entry_mtime) \
    FUNCTION(archive_entry_mtime_nsec) \
    FUNCTION(archive_entry_new) \
    FUNCTION(archive_entry_nlink) \
    FUNCTION(archive_entry_pathname) \
    FUNCTION(archive_entry_pathname_utf8) \
    FUNCTION(archive_entry_perm) \
    FUNCTION(archive_entry_set_mode) \
    FUNCTION(archive_entry_set_mtime) \
    FUNCTION(archive_entry_set_nlink) \
    FUNCTION(archive_entry_set_pathname) \
    FUNCTION(archive_entry_set_size) \
    FUNCTION(archive_entry_set_symlink) \
    FUNCTION(archive_entry_size) \
    FUNCTION(archive_entry_size_is_set) \
    FUNCTION(archive_entry_symlink) \
    FUNCTION(archive_entry_symlink_utf8) \
    FUNCTION(archive_error_string) \
    FUNCTION(archive_format) \
    FUNCTION(archive_read_data) \
    FUNCTION(archive_read_data_block) \
    FUNCTION(archive_read_free) \
    FUNCTION(archive_read_new) \
    FUNCTION(archive_read_next_header) \
    FUNCTION(archive_read_open) \
    FUNCTION(archive_read_open1) \
    FUNCTION(archive_read_set_callback_data) \
    FUNCTION(archive_read_set_read_callback) \
    FUNCTION(archive_read_set_seek_callback) \
    FUNCTION(archive_read_set_skip_callback) \
    FUNCTION(archive_read_support_filter_bzip2) \
    FUNCTION(archive_read_support_filter_gzip) \
    FUNCTION(archive_read_support_filter_lzma) \
    FUNCTION(archive_read_support_filter_xz) \
    FUNCTION(archive_read_support_filter_zstd) \
    FUNCTION(archive_read_support_format_7zip) \
    FUNCTION(archive_read_support_format_ar) \
    FUNCTION(archive_read_support_format_cab) \
    FUNCTION(archive_read_support_format_cpio) \
    FUNCTION(archive_read_support_format_lha) \
    FUNCTION(archive_read_support_format_rar) \
    FUNCTION(archive_read_support_format_rar5) \
    FUNCTION(archive_read_support_format_tar) \
    FUNCTION(archive_read_support_format_zip) \
    FUNCTION(archive_write_close) \
    FUNCTION(archive_write_data) \
    FUNCTION(archive_write_fail) \
    FUNCTION(archive_write_free) \
    FUNCTION(archive_write_header) \
    FUNCTION(archive_write_new) \
    FUNCTION(archive_write_open2) \
    FUNCTION(archive_write_set_bytes_per_block) \
    FUNCTION(archive_write_set_format_cpio_odc)

#define CARCHIVE_SHIMS_FIELD(name) __typeof__(name) *_Nonnull name;
typedef struct {
    CARCHIVE_SHIMS_FUNCTIONS(CARCHIVE_SHIMS_FIELD)
} CArchiveShims_Functions;
#undef CARCHIVE_SHIMS_FIELD

/// dlopen(3) and dlsym(3) of each function into `functions`. The library stays for as long as the process does.
/// Returns NULL, or what dlerror(3) says: valid until the thread's next call of dlopen(3) and the like.
const char *_Nullable CArchiveShims_load(const char *_Nonnull library, CArchiveShims_Functions *_Nonnull functions);

// The name of the library's interface, unchanged since 2012. Linked programs look for this name too.
#define CARCHIVE_SHIMS_LIBRARY "libarchive.so.13"

/// The functions of that library, loaded once. NULL if it cannot be loaded.
const CArchiveShims_Functions *_Nullable CArchiveShims_shared(void);
