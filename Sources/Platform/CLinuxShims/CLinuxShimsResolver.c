#define _GNU_SOURCE
#include "CLinuxShimsResolver.h"

#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <string.h>

_Static_assert(CLINUXSHIMS_DNS_NAME == NS_MAXDNAME, "a name fits");

int CLinuxShims_dns_query(const char *name, int type, int seconds, uint8_t *answer, int size) {
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return -1;
    state.retrans = seconds;
    state.retry = 1;
    int length = res_nquery(&state, name, ns_c_in, type, answer, size);
    int reason = state.res_h_errno;
    res_nclose(&state);
    if (length < 0) return reason == HOST_NOT_FOUND || reason == NO_DATA ? 0 : -1;
    return length < size ? length : size;
}

int CLinuxShims_dns_record(
    const uint8_t *answer, int size, int isAdditional, int number, struct CLinuxShims_dns_record *record) {
    ns_sect section = isAdditional ? ns_s_ar : ns_s_an;
    ns_msg message;
    ns_rr read;
    memset(record, 0, sizeof *record);
    if (ns_initparse(answer, size, &message) != 0) return -1;
    if (number >= ns_msg_count(message, section)) return 0;
    if (ns_parserr(&message, section, number, &read) != 0) return -1;
    strcpy(record->name, ns_rr_name(read));
    record->type = ns_rr_type(read);
    record->data = ns_rr_rdata(read);
    record->length = ns_rr_rdlen(read);
    const uint8_t *target = record->data;
    if (record->type == ns_t_srv) {
        if (record->length < 7) return -1;
        record->priority = ns_get16(record->data);
        record->port = ns_get16(record->data + 4);
        target += 6;
    } else if (record->type != ns_t_ptr) {
        return 1;
    }
    int used = ns_name_uncompress(answer, answer + size, target, record->target, sizeof record->target);
    return used < 0 ? -1 : 1;
}

int CLinuxShims_dns_search_domain(int number, char *domain, int size) {
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return 0;
    int found = 0;
    for (int each = 0; each <= number && each < MAXDNSRCH && state.dnsrch[each]; each++) {
        if (each < number || strlen(state.dnsrch[each]) >= (size_t)size) continue;
        strcpy(domain, state.dnsrch[each]);
        found = 1;
    }
    res_nclose(&state);
    return found;
}
