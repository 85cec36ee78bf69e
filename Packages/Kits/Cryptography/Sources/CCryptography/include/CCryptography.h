#pragma once

// What libcrypto and libssl offer only as macros, variadic functions or callbacks, one function for each need.
// Their types are named by tag, so that this header needs none of theirs.

#include <stddef.h>
#include <stdint.h>

struct asn1_string_st;
struct bio_st;
struct evp_pkey_st;
struct ssl_ctx_st;
struct ssl_st;
struct stack_st_GENERAL_NAME;
struct X509_name_st;
struct x509_st;
struct x509_store_ctx_st;

// MARK: The libraries

/// Why libssl and libcrypto cannot be used, or NULL; opens them. Otherwise the first call that needs them does, and ends
/// the process when it cannot.
const char *ccryptography_problem(void);

// MARK: Sealing

enum { CCRYPTOGRAPHY_TAG = 16 };

/// AES-256-GCM with a nonce of 12 bytes: writes the encrypted text and the tag behind it; 1 on success.
int ccryptography_seal(
    const uint8_t *key, const uint8_t *nonce, const uint8_t *context, int context_count, const uint8_t *text, int count,
    uint8_t *output);
/// Undoes it; the tag is behind the `count` bytes of `text`. What was written must be wiped unless this returns 1.
int ccryptography_open(
    const uint8_t *key, const uint8_t *nonce, const uint8_t *context, int context_count, const uint8_t *text, int count,
    uint8_t *output);

// MARK: Reading

/// What a memory BIO holds; the pointer is valid until the BIO changes.
size_t ccryptography_bio_content(struct bio_st *bio, const uint8_t **start);

/// Reads the next certificate of a PEM text and asks nobody for a password; NULL at the end and on an error.
struct x509_st *ccryptography_read_certificate(struct bio_st *bio);
/// Reads a private key that is not encrypted, or returns NULL.
struct evp_pkey_st *ccryptography_read_key(struct bio_st *bio);
/// Whether the last error only says that a PEM text has no further block.
int ccryptography_pem_ended(void);

/// Writes a name in one line by RFC 2253, with characters of all scripts in UTF-8; negative when it cannot be decoded.
int ccryptography_print_name(struct bio_st *bio, const struct X509_name_st *name);
/// Gives back memory that the library allocated.
void ccryptography_free(void *memory);

/// Seconds since 1970, 1 on success.
int ccryptography_seconds(const struct asn1_string_st *time, int64_t *seconds);

/// The alternative names of a certificate; NULL when it has none. `malformed` tells that there are some that cannot be read.
struct stack_st_GENERAL_NAME *ccryptography_names(struct x509_st *certificate, int *malformed);
struct stack_st_GENERAL_NAME *ccryptography_names_new(void);
void ccryptography_names_free(struct stack_st_GENERAL_NAME *names);
int ccryptography_names_count(const struct stack_st_GENERAL_NAME *names);
/// The type (GEN_DNS, GEN_IPADD or another) and, for these two, the bytes of one name.
int ccryptography_names_get(const struct stack_st_GENERAL_NAME *names, int index, const uint8_t **start, size_t *count);

// MARK: Making

struct evp_pkey_st *ccryptography_generate_p256(void);
struct evp_pkey_st *ccryptography_generate_rsa(size_t bits);
/// Adds a name of type GEN_DNS or GEN_IPADD, 1 on success.
int ccryptography_names_add(struct stack_st_GENERAL_NAME *names, int type, const uint8_t *start, size_t count);
/// Puts an extension into a certificate by its configuration text, which must be a constant; 1 on success.
int ccryptography_add_extension(struct x509_st *certificate, struct x509_st *issuer, int nid, const char *value);

// MARK: Verifying

/// One thing that a chain was found wrong by: the library's number for it, and how far from the leaf.
struct ccryptography_defect {
    int error;
    int depth;
};

/// The first defects of a chain; more than fit are not needed, because one is enough to refuse.
struct ccryptography_defects {
    int count;
    struct ccryptography_defect found[32];
};

/// Verifies a chain to its end, whatever is found on the way, and returns what X509_verify_cert does.
int ccryptography_verify(struct x509_store_ctx_st *context, struct ccryptography_defects *defects);

/// The certificates that the peer sent, its own first.
int ccryptography_sent_count(struct x509_store_ctx_st *context);
struct x509_st *ccryptography_sent(struct x509_store_ctx_st *context, int index);
/// The certificates that verification put together, which can end with one that the peer did not send.
int ccryptography_built_count(struct x509_store_ctx_st *context);
struct x509_st *ccryptography_built(struct x509_store_ctx_st *context, int index);

/// Makes `judge` decide on every certificate that this context meets, and calls `release` when the context goes.
/// Handshakes below TLS 1.2, resumed sessions and renegotiation are ruled out. 1 on success; else the object stays the
/// caller's.
int ccryptography_judge_servers(
    struct ssl_ctx_st *context, void *object, void (*release)(void *object),
    int (*judge)(struct x509_store_ctx_st *context, void *object));

// MARK: Serving

/// A server's context for TLS 1.2 and later and HTTP/1.1, or NULL.
struct ssl_ctx_st *ccryptography_server_context(void);
/// Adds a certificate that is sent after the server's own; 1 on success.
int ccryptography_add_chain(struct ssl_ctx_st *context, struct x509_st *certificate);
/// Demands that clients show a certificate that this authority signed; 1 on success.
int ccryptography_demand_client(struct ssl_ctx_st *context, struct x509_st *authority);
/// Lets a session talk over a socket that stays the caller's, without blocking and without SIGPIPE; 1 on success.
int ccryptography_use_socket(struct ssl_st *session, int descriptor);
