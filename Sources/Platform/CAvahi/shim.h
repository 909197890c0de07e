#pragma once
#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/address.h>
#include <avahi-common/alternative.h>
#include <avahi-common/domain.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>
#include <avahi-core/core.h>
#include <avahi-core/log.h>
#include <avahi-core/lookup.h>
#include <avahi-core/publish.h>

/// Functions of avahi-core, which is not linked but loaded: with the types that its headers give them, so that the
/// compiler checks their use. Each field has the name of the function without `avahi_`.
struct CAvahi_core {
    __typeof__(avahi_s_entry_group_commit) *_Nonnull s_entry_group_commit;
    __typeof__(avahi_s_entry_group_free) *_Nonnull s_entry_group_free;
    __typeof__(avahi_s_entry_group_new) *_Nonnull s_entry_group_new;
    __typeof__(avahi_s_service_browser_free) *_Nonnull s_service_browser_free;
    __typeof__(avahi_s_service_browser_new) *_Nonnull s_service_browser_new;
    __typeof__(avahi_s_service_resolver_free) *_Nonnull s_service_resolver_free;
    __typeof__(avahi_s_service_resolver_new) *_Nonnull s_service_resolver_new;
    __typeof__(avahi_server_add_address) *_Nonnull server_add_address;
    __typeof__(avahi_server_add_service_strlst) *_Nonnull server_add_service_strlst;
    __typeof__(avahi_server_config_free) *_Nonnull server_config_free;
    __typeof__(avahi_server_config_init) *_Nonnull server_config_init;
    __typeof__(avahi_server_errno) *_Nonnull server_errno;
    __typeof__(avahi_server_free) *_Nonnull server_free;
    __typeof__(avahi_server_new) *_Nonnull server_new;
    __typeof__(avahi_set_log_function) *_Nonnull set_log_function;
};
