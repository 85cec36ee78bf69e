import CCryptography
import COpenSSL

extension Certificate {
    /// Reads the certificates of a PEM text in their order, at least one; other blocks are passed over.
    public static func chain(pem: Span<UInt8>) throws(CryptographyError) -> [Certificate] {
        let text = try MemoryBIO.holding(pem)
        var certificates: [Certificate] = []
        while true {
            ErrorQueue.clear()
            guard let pointer = unsafe ccryptography_read_certificate(text.handle) else { break }
            certificates.append(try Certificate(unsafe X509Handle(owning: pointer)))
        }
        let ended = ccryptography_pem_ended() == 1
        let reason = ErrorQueue.reason()
        guard ended else {
            throw CryptographyError(.malformed, "a certificate cannot be read: \(reason)")
        }
        guard !certificates.isEmpty else {
            throw CryptographyError(.malformed, "the text has no block BEGIN CERTIFICATE")
        }
        return certificates
    }

    /// Reads the first certificate of a PEM text.
    public init(pem: String) throws(CryptographyError) {
        self = try Self.chain(pem: Array(pem.utf8).span)[0]
    }

    /// The certificate as a PEM block.
    public var pem: String {
        var text = "-----BEGIN CERTIFICATE-----\n"
        let digits = Base64.encode(encoded)
        var rest = Substring(digits).utf8
        while !rest.isEmpty {
            text += String(Substring(rest.prefix(64))) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END CERTIFICATE-----\n"
    }
}
