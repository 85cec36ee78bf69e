import CCryptography
import COpenSSL
import Capabilities

/// Defects without repetition, in the order in which they were found.
struct DefectList {
    private(set) var all: [CertificateDefect] = []

    mutating func add(_ defect: CertificateDefect) {
        if !all.contains(defect) { all.append(defect) }
    }

    /// Adds what the library found; `bits` is the length of the key in the certificate concerned.
    mutating func add(_ defect: ccryptography_defect, selfSigned: Bool, bits: Int) {
        switch defect.error {
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: add(.selfSigned)
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
            // One that is signed by itself but may not sign others has, for the library, no issuer at all.
            add(selfSigned ? .selfSigned : .unknownIssuer)
        case X509_V_ERR_CERT_HAS_EXPIRED: add(.expired)
        case X509_V_ERR_CERT_NOT_YET_VALID: add(.notYetValid)
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: add(.wrongName)
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: add(.weakKey(bits: bits))
        case X509_V_ERR_CERT_REVOKED: add(.revoked)
        default: add(.other(Self.words(defect.error)))
        }
    }

    /// The library's words for one of its numbers.
    static func words(_ error: Int32) -> String {
        // The text is a constant of the library.
        unsafe X509_verify_cert_error_string(Int(error)).map { unsafe String(cString: $0) } ?? "error \(error)"
    }
}
