// Questions to the name servers of resolv.conf(5), by the C library's resolver, whose names are macros.
#ifndef CLINUXSHIMS_RESOLVER_H
#define CLINUXSHIMS_RESOLVER_H

#include <stdint.h>

/// Bytes of a name in presentation form, with its NUL: NS_MAXDNAME.
#define CLINUXSHIMS_DNS_NAME 1025

/// A record of an answer.
struct CLinuxShims_dns_record {
    /// The name that has the record, in presentation form, ended by NUL.
    char name[CLINUXSHIMS_DNS_NAME];
    /// As in RFC 1035, 3.2.2.
    uint16_t type;
    /// Of an SRV record (RFC 2782).
    uint16_t priority;
    uint16_t port;
    /// The target of a PTR or SRV record in presentation form, ended by NUL; otherwise empty.
    char target[CLINUXSHIMS_DNS_NAME];
    /// The record's data, within the answer.
    const uint8_t *data;
    int length;
};

/// res_nquery(3) for class IN, with a state of its own. Blocks for at most `seconds` for each name server.
///
/// Returns the bytes of the answer, at most `size`; 0 if the name or the type does not exist; -1 if no name server
/// answered.
int CLinuxShims_dns_query(const char *name, int type, int seconds, uint8_t *answer, int size);

/// Reads the record of that number, from 0, in the answer section, or among the additional records: 1 if it is there,
/// 0 behind the last one, -1 if the answer is malformed.
int CLinuxShims_dns_record(
    const uint8_t *answer, int size, int isAdditional, int number, struct CLinuxShims_dns_record *record);

/// Copies the domain of that number in the search list of resolv.conf(5), from 0: 1 if it is there, 0 behind the last one.
int CLinuxShims_dns_search_domain(int number, char *domain, int size);

#endif
