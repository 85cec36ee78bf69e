#pragma once

// Wraps what libcrypto and libssl offer only as macros, variadic functions or callbacks. Their types are named by tag,
// so this header includes none of their headers.

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

/// Opens libssl and libcrypto. Returns why they cannot be used, or NULL. Without this, the first call that needs them
/// opens them, and ends the process on failure.
const char *ccryptography_problem(void);

// MARK: Sealing

enum { CCRYPTOGRAPHY_TAG = 16 };

/// Encrypts with AES-256-GCM and a nonce of 12 bytes. Writes the encrypted text followed by the tag. 1 on success.
int ccryptography_seal(
    const uint8_t *key, const uint8_t *nonce, const uint8_t *context, int context_count, const uint8_t *text, int count,
    uint8_t *output);
/// Decrypts; the tag follows the `count` bytes of `text`. Wipe the output unless this returns 1.
int ccryptography_open(
    const uint8_t *key, const uint8_t *nonce, const uint8_t *context, int context_count, const uint8_t *text, int count,
    uint8_t *output);

// MARK: Reading

/// The content of a memory BIO. The pointer is valid until the BIO changes.
size_t ccryptography_bio_content(struct bio_st *bio, const uint8_t **start);

/// Reads the next certificate of a PEM text without a password prompt. NULL at the end and on an error.
struct x509_st *ccryptography_read_certificate(struct bio_st *bio);
/// Reads a private key that is not encrypted, or returns NULL.
struct evp_pkey_st *ccryptography_read_key(struct bio_st *bio);
/// Whether the last error only means that the PEM text has no further block.
int ccryptography_pem_ended(void);

/// Writes a name in one line by RFC 2253, with characters of all scripts in UTF-8; negative when it cannot be decoded.
int ccryptography_print_name(struct bio_st *bio, const struct X509_name_st *name);
/// Frees memory that the library allocated.
void ccryptography_free(void *memory);

/// Seconds since 1970, 1 on success.
int ccryptography_seconds(const struct asn1_string_st *time, int64_t *seconds);

/// The alternative names of a certificate, or NULL if it has none. `malformed` is set when there are names that cannot
/// be read.
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
/// Adds an extension to a certificate by its configuration text, which must be a constant. 1 on success.
int ccryptography_add_extension(struct x509_st *certificate, struct x509_st *issuer, int nid, const char *value);

// MARK: Verifying

/// A defect of a chain: the library's error number, and the distance from the leaf.
struct ccryptography_defect {
    int error;
    int depth;
};

/// The first defects of a chain. Defects that do not fit are dropped, because one is enough to reject the chain.
struct ccryptography_defects {
    int count;
    struct ccryptography_defect found[32];
};

/// Verifies a whole chain despite defects, and returns the result of X509_verify_cert.
int ccryptography_verify(struct x509_store_ctx_st *context, struct ccryptography_defects *defects);

/// The certificates that the peer sent, its own first.
int ccryptography_sent_count(struct x509_store_ctx_st *context);
struct x509_st *ccryptography_sent(struct x509_store_ctx_st *context, int index);
/// The certificates of the verified chain, which may end with one that the peer did not send.
int ccryptography_built_count(struct x509_store_ctx_st *context);
struct x509_st *ccryptography_built(struct x509_store_ctx_st *context, int index);

/// Makes `judge` decide on every certificate of this context, and calls `release` when the context is freed. Rejects
/// handshakes below TLS 1.2, resumed sessions and renegotiation. 1 on success; otherwise the caller still owns the
/// object.
int ccryptography_judge_servers(
    struct ssl_ctx_st *context, void *object, void (*release)(void *object),
    int (*judge)(struct x509_store_ctx_st *context, void *object));

// MARK: Serving

/// A server's context for TLS 1.2 and later and HTTP/1.1, or NULL.
struct ssl_ctx_st *ccryptography_server_context(void);
/// Adds a certificate that is sent after the server's own; 1 on success.
int ccryptography_add_chain(struct ssl_ctx_st *context, struct x509_st *certificate);
/// Requires a client certificate signed by this authority. 1 on success.
int ccryptography_demand_client(struct ssl_ctx_st *context, struct x509_st *authority);
/// Connects a session to a socket that the caller keeps, without blocking and without SIGPIPE. 1 on success.
int ccryptography_use_socket(struct ssl_st *session, int descriptor);
