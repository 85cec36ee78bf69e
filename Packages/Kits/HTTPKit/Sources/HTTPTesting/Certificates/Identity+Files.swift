public import Cryptography
import FileKit

extension Identity {
    /// The key as PEM, for programs that want it in a file.
    public func keyPEM() throws -> [UInt8] {
        try key.pem().withBytes { bytes in Array(unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }) }
    }

    /// Writes `<name>.pem` with the chain and `<name>.key` into a directory.
    public func write(into folder: String, as name: String) throws -> (chain: String, key: String) {
        let (chain, key) = ("\(folder)/\(name).pem", "\(folder)/\(name).key")
        try Files.writeAtomically(Array(chainPEM.utf8), to: chain)
        try Files.writeAtomically(try keyPEM(), to: key, mode: 0o600)
        return (chain, key)
    }
}
