import COpenSSL
public import Capabilities

/// Why a cryptographic operation failed.
public struct CryptographyError: Failure, Hashable {
    /// The stable reason, to compare with `==`.
    public let kind: Kind
    /// What happened and what to do next.
    public let message: String

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .notAuthentic, .untrusted: .denied
        case .handshake, .notTLS, .truncated, .connection: .unreachable
        default: .failed
        }
    }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A stable reason for a failure; new ones may be added.
    public typealias Kind = FailureKind<CryptographyError>
}

/// The reasons of a `CryptographyError`.
extension FailureKind<CryptographyError> {
    /// The key is wrong, or the data was changed or truncated. These cannot be distinguished.
    public static var notAuthentic: Self { "cryptography.not-authentic" }
    /// Numbers or sizes outside the allowed range.
    public static var parameters: Self { "cryptography.parameters" }
    /// A certificate or key that cannot be read.
    public static var malformed: Self { "cryptography.malformed" }
    /// A private key that does not belong to its certificate, or that TLS does not accept.
    public static var key: Self { "cryptography.key" }
    /// The peer's certificate was refused.
    public static var untrusted: Self { "cryptography.untrusted" }
    /// The two sides did not agree on the protocol, or one sent invalid data.
    public static var handshake: Self { "cryptography.handshake" }
    /// The peer does not speak TLS.
    public static var notTLS: Self { "cryptography.not-tls" }
    /// The connection ended without the closing message.
    public static var truncated: Self { "cryptography.truncated" }
    /// The system reported a connection error.
    public static var connection: Self { "cryptography.connection" }
    /// The library failed for an internal reason, such as a lack of memory.
    public static var library: Self { "cryptography.library" }
}

extension CryptographyError {
    /// A failure of the socket below TLS. `number` is 0 when the connection just ended.
    static func connection(errno number: Int32) -> CryptographyError {
        guard number != 0 else { return .cut }
        return CryptographyError(.connection, "the connection failed: \(SystemError(number))")
    }

    static var cut: CryptographyError {
        CryptographyError(.truncated, "the connection was cut before the peer finished sending")
    }

    /// An error of libssl. `verdict` is the result of verifying the peer's certificate.
    static func tls(reason: Int32, words: String, verdict: Int) -> CryptographyError {
        switch reason {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: .cut
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
            CryptographyError(.notTLS, "the peer sent plain HTTP to a TLS port; use https in the address")
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_UNKNOWN_PROTOCOL:
            CryptographyError(.notTLS, "the peer does not use TLS")
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            CryptographyError(.untrusted, "the peer's certificate was refused: \(DefectList.words(Int32(verdict)))")
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            CryptographyError(.untrusted, "the peer sent no certificate, but one is required")
        default: CryptographyError(.handshake, "the TLS connection failed: \(words)")
        }
    }

    /// One error for a wrong key, a changed byte and a missing end, because distinguishing them would help an attacker.
    static var notAuthenticBox: CryptographyError {
        CryptographyError(.notAuthentic, "the key is wrong, or the sealed data was changed or cut")
    }
}

/// The errors that libcrypto keeps for each thread.
///
/// They are cleared before an important call and read right after it, because other calls would change them.
enum ErrorQueue {
    static func clear() {
        ERR_clear_error()
    }

    /// Takes the oldest error, which is the cause, and clears the others.
    static func take() -> Entry? {
        let number = ERR_get_error()
        ERR_clear_error()
        return number == 0 ? nil : Entry(number: number)
    }

    /// An error of the library: its number and its text.
    struct Entry {
        let number: UInt

        var library: Int32 { Int32((number >> 23) & 0xFF) }
        var reason: Int32 { Int32(number & 0x7F_FFFF) }

        /// The library's own words: "certificate verify failed".
        var words: String {
            // The text is a constant of the library.
            unsafe ERR_reason_error_string(number).map { unsafe String(cString: $0) } ?? "error \(number)"
        }
    }

    /// Takes the oldest error as text for a message.
    static func reason() -> String {
        take()?.words ?? "the library gave no reason"
    }

    /// The error of a call that fails only without memory or without the algorithm.
    static func failure(_ action: String) -> CryptographyError {
        CryptographyError(.library, "cannot \(action): \(reason())")
    }
}
