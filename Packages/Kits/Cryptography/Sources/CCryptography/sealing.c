#include "CCryptography.h"

#include <openssl/evp.h>

// Freeing a cipher context also wipes the key in it.

int ccryptography_seal(
    const uint8_t *key, const uint8_t *nonce, const uint8_t *context, int context_count, const uint8_t *text, int count,
    uint8_t *output
) {
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int written = 0;
    int done = cipher && EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, nonce)
        && (context_count == 0 || EVP_EncryptUpdate(cipher, NULL, &written, context, context_count))
        && (count == 0 || EVP_EncryptUpdate(cipher, output, &written, text, count))
        && EVP_EncryptFinal_ex(cipher, output + count, &written)
        && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, CCRYPTOGRAPHY_TAG, output + count);
    EVP_CIPHER_CTX_free(cipher);
    return done;
}

int ccryptography_open(
    const uint8_t *key, const uint8_t *nonce, const uint8_t *context, int context_count, const uint8_t *text, int count,
    uint8_t *output
) {
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    uint8_t none = 0;
    int written = 0;
    int done = cipher && EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, nonce)
        && (context_count == 0 || EVP_DecryptUpdate(cipher, NULL, &written, context, context_count))
        && (count == 0 || EVP_DecryptUpdate(cipher, output, &written, text, count))
        && EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, CCRYPTOGRAPHY_TAG, (void *)(text + count))
        && EVP_DecryptFinal_ex(cipher, count == 0 ? &none : output + count, &written) > 0;
    EVP_CIPHER_CTX_free(cipher);
    return done;
}
