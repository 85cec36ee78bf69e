#define _GNU_SOURCE
#include "CCryptography.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>

size_t ccryptography_bio_content(BIO *bio, const uint8_t **start) {
    char *data = NULL;
    long count = BIO_get_mem_data(bio, &data);
    *start = (const uint8_t *)data;
    return count > 0 && data ? (size_t)count : 0;
}

// Without it libcrypto would ask for the password of an encrypted block on the terminal.
static int no_password(char *buffer, int size, int writing, void *context) {
    (void)buffer, (void)size, (void)writing, (void)context;
    return -1;
}

X509 *ccryptography_read_certificate(BIO *bio) {
    return PEM_read_bio_X509(bio, NULL, no_password, NULL);
}

EVP_PKEY *ccryptography_read_key(BIO *bio) {
    return PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
}

int ccryptography_pem_ended(void) {
    unsigned long error = ERR_peek_last_error();
    return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

int ccryptography_print_name(BIO *bio, const X509_NAME *name) {
    // Without ESC_MSB, so that names in other scripts stay readable. The caller escapes control characters.
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

void ccryptography_free(void *memory) { OPENSSL_free(memory); }

int ccryptography_seconds(const ASN1_TIME *time, int64_t *seconds) {
    struct tm parts = {0};
    if (!time || !ASN1_TIME_to_tm(time, &parts)) return 0;
    *seconds = timegm(&parts);
    return 1;
}

GENERAL_NAMES *ccryptography_names(X509 *certificate, int *malformed) {
    int state = 0;
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, &state, NULL);
    *malformed = !names && state != -1;
    return names;
}

GENERAL_NAMES *ccryptography_names_new(void) { return sk_GENERAL_NAME_new_null(); }

void ccryptography_names_free(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }

int ccryptography_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

int ccryptography_names_get(const GENERAL_NAMES *names, int index, const uint8_t **start, size_t *count) {
    int type = -1;
    const ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, index), &type);
    if (type != GEN_DNS && type != GEN_IPADD) return type;
    *start = ASN1_STRING_get0_data(value);
    *count = (size_t)ASN1_STRING_length(value);
    return type;
}
