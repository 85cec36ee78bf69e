public import Capabilities

extension CertificateDraft {
    /// For a server that programs of this machine use: it is good for `localhost`, the addresses of the loopback and
    /// the names given besides, from an hour ago on, since clocks differ.
    public static func local(
        _ commonName: String, also names: [String] = [], from now: Timestamp, days: Int
    ) -> CertificateDraft {
        let hour: Int64 = 3_600_000_000
        var draft = CertificateDraft(
            commonName: commonName, notBefore: Timestamp(microseconds: now.microseconds - hour),
            notAfter: Timestamp(microseconds: now.microseconds + Int64(days) * 24 * hour))
        draft.names = ["localhost", "127.0.0.1", "::1"]
        for name in names where !draft.names.contains(name) { draft.names.append(name) }
        return draft
    }
}

extension Identity {
    /// Chain and key as one PEM text, for a file that nobody else may read; `init(chainPEM:keyPEM:)` takes it for both.
    public func pem() throws(CryptographyError) -> SecretBytes {
        let chain = Array(chainPEM.utf8)
        let text = try key.pem().withBytes { key in
            var text = chain
            text.reserveCapacity(chain.count + key.count)
            for index in key.indices { text.append(key[index]) }
            return text
        }
        return SecretBytes(copying: text.span)
    }
}
