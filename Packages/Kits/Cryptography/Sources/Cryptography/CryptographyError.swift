import COpenSSL
public import Capabilities
import Glibc

/// Why something could not be sealed, read, made or agreed on.
public struct CryptographyError: Failure, Hashable {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// A sentence for a person: what happened and what to do next.
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
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "cryptography.malformed".
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The key is wrong, or the data was changed or cut; nobody can tell which.
        public static let notAuthentic = Kind("cryptography.not-authentic")
        /// Numbers or sizes outside of what is safe or sensible.
        public static let parameters = Kind("cryptography.parameters")
        /// A certificate or key that cannot be read.
        public static let malformed = Kind("cryptography.malformed")
        /// A private key that does not belong to its certificate, or that TLS does not accept.
        public static let key = Kind("cryptography.key")
        /// The peer's certificate was refused.
        public static let untrusted = Kind("cryptography.untrusted")
        /// The two sides did not agree on how to talk, or one sent something wrong.
        public static let handshake = Kind("cryptography.handshake")
        /// The peer does not speak TLS.
        public static let notTLS = Kind("cryptography.not-tls")
        /// The connection ended without the mark that all was sent.
        public static let truncated = Kind("cryptography.truncated")
        /// The system reported an error of the connection.
        public static let connection = Kind("cryptography.connection")
        /// The library failed for a reason of its own, such as a lack of memory.
        public static let library = Kind("cryptography.library")
    }
}

extension CryptographyError {
    /// A failure of the socket under TLS; 0 when it just ended.
    static func connection(errno number: Int32) -> CryptographyError {
        guard number != 0 else { return .cut }
        // strerror is safe here: glibc keeps its text in thread-local storage.
        let reason = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "system error \(number)"
        return CryptographyError(.connection, "the connection failed: \(reason)")
    }

    static var cut: CryptographyError {
        CryptographyError(.truncated, "the connection was cut before the peer said that it had sent everything")
    }

    /// An error of libssl; `verdict` is what verification of the peer's certificate came to.
    static func tls(reason: Int32, words: String, verdict: Int) -> CryptographyError {
        switch reason {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: .cut
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST:
            CryptographyError(.notTLS, "the peer speaks plain HTTP where TLS is spoken; use https in its address")
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_UNKNOWN_PROTOCOL:
            CryptographyError(.notTLS, "the peer does not speak TLS")
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            CryptographyError(.untrusted, "the peer's certificate was refused: \(DefectList.words(Int32(verdict)))")
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
            CryptographyError(.untrusted, "the peer showed no certificate, but it must")
        default: CryptographyError(.handshake, "the TLS connection failed: \(words)")
        }
    }
}

/// The errors that libcrypto keeps for each thread.
///
/// They are cleared before a call that matters and read right after it, because anything in between would change them.
enum ErrorQueue {
    static func clear() {
        ERR_clear_error()
    }

    /// Takes the oldest error, which names the cause, and forgets the others.
    static func take() -> Entry? {
        let number = ERR_get_error()
        ERR_clear_error()
        return number == 0 ? nil : Entry(number: number)
    }

    /// An error of the library: which one failed, and why.
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

    /// Takes the oldest error as words for a message.
    static func reason() -> String {
        take()?.words ?? "the library gave no reason"
    }

    /// What a call reported that fails only for want of memory or of an algorithm.
    static func failure(_ action: String) -> CryptographyError {
        CryptographyError(.library, "cannot \(action): \(reason())")
    }
}
