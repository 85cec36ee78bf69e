public import Capabilities

extension SecretBytes {
    /// The UTF-8 of a secret text, such as a passphrase.
    public convenience init(_ secret: Secret) {
        // Straight out of the text, because a copy in between would stay in memory.
        self.init(utf8: secret.withText { $0 }.utf8)
    }

    private convenience init(utf8 text: String.UTF8View) {
        unsafe self.init(count: text.count) { unsafe $0.copyBytes(from: text) }
    }
}
