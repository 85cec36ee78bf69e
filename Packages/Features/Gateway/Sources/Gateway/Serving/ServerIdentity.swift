import Capabilities
import Cryptography
import FileKit
import Registry

/// The certificate that the gateway uses for TLS.
struct ServerIdentity {
    let settings: GatewaySettings
    let surroundings: Surroundings

    /// Chain and key are in one file, so that they always match.
    private var ownFile: String { "\(surroundings.locations.data)/gateway.pem" }

    /// Nil when it does not use TLS.
    func load() throws -> Identity? {
        switch settings.tls {
        case .none: nil
        case .own: try own()
        case .given: try given()
        }
    }

    private func given() throws -> Identity {
        guard let chain = settings.certificate?.text else {
            throw ServingError(
                .settings,
                "gateway.tls is 'given', but gateway.certificate is not set; set it, or set gateway.tls to 'own'")
        }
        let chainText = try Files.read(surroundings.locations.absolute(chain), limit: 1 << 20)
        let key = settings.key?.text ?? chain
        let keyText = try Files.read(surroundings.locations.absolute(key), limit: 1 << 20)
        return try Identity(chainPEM: chainText.span, keyPEM: keyText.span)
    }

    /// The same certificate at each start, so that users of clients accept it only once; a new one when it has expired.
    private func own() throws -> Identity {
        if let found = try kept(), found.certificate.notAfter > surroundings.now() { return found }
        var names = settings.hosts
        let address = settings.address
        if address != "0.0.0.0", address != "::" { names.append(address) }
        let draft = CertificateDraft.local("Martlet gateway", also: names, from: surroundings.now(), days: 5 * 365)
        let made = try draft.selfSigned()
        try Files.makeDirectories(surroundings.locations.data)
        try Files.writeAtomically(try Self.text(of: made), to: ownFile, mode: 0o600)
        return made
    }

    private static func text(of identity: Identity) throws(CryptographyError) -> [UInt8] {
        let pem = try identity.pem()
        return pem.withBytes { bytes -> [UInt8] in
            var text: [UInt8] = []
            for index in bytes.indices { text.append(bytes[index]) }
            return text
        }
    }

    private func kept() throws -> Identity? {
        do {
            let text = try Files.read(ownFile, limit: 1 << 20)
            return try Identity(chainPEM: text.span, keyPEM: text.span)
        } catch let error as FileError where error.kind == .notFound {
            return nil
        }
    }
}
