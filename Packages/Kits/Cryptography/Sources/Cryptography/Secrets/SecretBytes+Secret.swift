public import Capabilities

extension SecretBytes {
    /// The UTF-8 of a secret text, such as a passphrase.
    public convenience init(_ secret: Secret) {
        let bytes = secret.withText { Array($0.utf8) }
        self.init(copying: bytes.span)
    }
}
