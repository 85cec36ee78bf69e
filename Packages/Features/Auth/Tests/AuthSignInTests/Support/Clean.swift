import Capabilities
import JSON
import Testing

/// Fails if any text of an error contains one of the secrets.
func expectClean(_ error: any Error, of secrets: String..., location: SourceLocation = #_sourceLocation) {
    var shown = "\(error)\n\(String(reflecting: error))\n\(AnyFailure(error).report.text())\n"
    dump(error, to: &shown)
    for secret in secrets {
        #expect(!shown.contains(secret), "\(shown)", sourceLocation: location)
    }
}
