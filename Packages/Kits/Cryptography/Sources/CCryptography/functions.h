// The functions of libssl and libcrypto that this package or its tests call. A missing one fails to link.
#pragma once

#define CALLED_FUNCTIONS(_) \
    _(ASN1_INTEGER_to_BN) _(ASN1_STRING_free) _(ASN1_STRING_get0_data) _(ASN1_STRING_length) _(ASN1_STRING_set) \
    _(ASN1_STRING_to_UTF8) _(ASN1_STRING_type_new) _(ASN1_TIME_set) _(ASN1_TIME_to_tm) _(BIO_clear_flags) \
    _(BIO_ctrl) _(BIO_free) _(BIO_get_data) _(BIO_get_new_index) _(BIO_meth_new) _(BIO_meth_set_ctrl) \
    _(BIO_meth_set_read) _(BIO_meth_set_write) _(BIO_new) _(BIO_s_mem) _(BIO_set_data) _(BIO_set_flags) \
    _(BIO_set_init) _(BIO_test_flags) _(BIO_write) _(BN_bin2bn) _(BN_bn2hex) _(BN_free) _(BN_to_ASN1_INTEGER) \
    _(CRYPTO_free) _(CRYPTO_get_ex_new_index) _(CRYPTO_memcmp) _(DTLS_client_method) _(ERR_clear_error) \
    _(ERR_get_error) _(ERR_peek_last_error) _(ERR_reason_error_string) _(EVP_CIPHER_CTX_ctrl) _(EVP_CIPHER_CTX_free) \
    _(EVP_CIPHER_CTX_new) _(EVP_DecryptFinal_ex) _(EVP_DecryptInit_ex) _(EVP_DecryptUpdate) _(EVP_DigestFinal_ex) \
    _(EVP_DigestInit_ex) _(EVP_DigestUpdate) _(EVP_EncryptFinal_ex) _(EVP_EncryptInit_ex) \
    _(EVP_EncryptUpdate) _(EVP_MD_CTX_free) _(EVP_MD_CTX_new) _(EVP_PBE_scrypt) _(EVP_PKEY_Q_keygen) \
    _(EVP_PKEY_free) _(EVP_PKEY_get_base_id) _(EVP_PKEY_get_bits) _(EVP_aes_256_gcm) _(EVP_sha1) _(EVP_sha256) \
    _(EVP_sha512) _(GENERAL_NAMES_free) _(GENERAL_NAME_free) _(GENERAL_NAME_get0_value) _(GENERAL_NAME_new) \
    _(GENERAL_NAME_set0_value) _(HMAC) _(OBJ_nid2ln) _(OPENSSL_cleanse) _(OPENSSL_sk_new_null) _(OPENSSL_sk_num) \
    _(OPENSSL_sk_push) _(OPENSSL_sk_value) _(OpenSSL_version) _(PEM_read_bio_PrivateKey) _(PEM_read_bio_X509) \
    _(PEM_write_bio_PKCS8PrivateKey) _(RAND_bytes) _(RAND_priv_bytes) _(SSL_CTX_add_client_CA) _(SSL_CTX_ctrl) \
    _(SSL_CTX_free) _(SSL_CTX_get_cert_store) _(SSL_CTX_get_ex_data) _(SSL_CTX_new) _(SSL_CTX_set_alpn_select_cb) \
    _(SSL_CTX_set_cert_verify_callback) _(SSL_CTX_set_ex_data) _(SSL_CTX_set_info_callback) \
    _(SSL_CTX_set_num_tickets) _(SSL_CTX_set_options) _(SSL_CTX_set_security_level) _(SSL_CTX_set_verify) \
    _(SSL_CTX_use_PrivateKey) _(SSL_CTX_use_certificate) _(SSL_do_handshake) _(SSL_free) _(SSL_get0_alpn_selected) \
    _(SSL_get1_peer_certificate) _(SSL_get_SSL_CTX) _(SSL_get_error) _(SSL_get_verify_result) _(SSL_get_version) \
    _(SSL_is_init_finished) _(SSL_new) _(SSL_read_ex) _(SSL_select_next_proto) _(SSL_set_accept_state) \
    _(SSL_set_alpn_protos) _(SSL_set_bio) _(SSL_set_connect_state) _(SSL_shutdown) _(SSL_write_ex) \
    _(TLS_client_method) _(TLS_server_method) _(X509V3_EXT_nconf_nid) _(X509V3_set_ctx) _(X509_EXTENSION_free) \
    _(X509_NAME_ENTRY_get_data) _(X509_NAME_add_entry_by_txt) _(X509_NAME_cmp) _(X509_NAME_get_entry) \
    _(X509_NAME_get_index_by_NID) _(X509_NAME_oneline) _(X509_NAME_print_ex) _(X509_STORE_CTX_get0_cert) \
    _(X509_STORE_CTX_get0_chain) _(X509_STORE_CTX_get0_untrusted) _(X509_STORE_CTX_get_error) \
    _(X509_STORE_CTX_get_error_depth) _(X509_STORE_CTX_get_ex_data) _(X509_STORE_CTX_set_error) \
    _(X509_STORE_CTX_set_ex_data) _(X509_STORE_CTX_set_verify_cb) _(X509_STORE_add_cert) _(X509_STORE_set_flags) \
    _(X509_add1_ext_i2d) _(X509_add_ext) _(X509_check_host) _(X509_check_ip) _(X509_check_private_key) \
    _(X509_cmp_current_time) _(X509_free) _(X509_get0_notAfter) _(X509_get0_notBefore) _(X509_get0_pubkey) \
    _(X509_get0_serialNumber) _(X509_get_X509_PUBKEY) _(X509_get_ext_by_NID) _(X509_get_ext_d2i) \
    _(X509_get_issuer_name) _(X509_get_serialNumber) _(X509_get_signature_nid) _(X509_get_subject_name) \
    _(X509_getm_notAfter) _(X509_getm_notBefore) _(X509_new) _(X509_self_signed) _(X509_set_issuer_name) \
    _(X509_set_pubkey) _(X509_set_version) _(X509_sign) _(X509_up_ref) _(X509_verify_cert) \
    _(X509_verify_cert_error_string) _(d2i_X509) _(i2d_X509) _(i2d_X509_PUBKEY)
