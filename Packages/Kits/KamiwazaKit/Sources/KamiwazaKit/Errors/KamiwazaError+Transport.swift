import Capabilities
import HTTPClient
import HTTPCore

extension KamiwazaError {
    /// What a failure on the way means here. Certificates and mistakes of the program stay what they are.
    static func onTheWay(_ error: HTTPError) -> any Error {
        switch error.kind {
        case .certificate, .invalid, .closed, .body: error
        case .connectTimedOut, .firstByteTimedOut, .idleTimedOut, .totalTimedOut:
            KamiwazaError(
                .timedOut, "the server did not answer in time: \(error.message); try again later", cause: error)
        case .tooLarge, .headTooLarge:
            KamiwazaError(
                .badAnswer,
                "the answer of \(error.server ?? "the server") is larger than \(ByteCount(KamiwazaAPI.largestAnswer).words)"
                    + ", as no answer of a platform is; check the address", status: error.status?.code, cause: error)
        case .badAnswer:
            KamiwazaError(
                .badAnswer, "the server answered what cannot be used: \(error.message)", status: error.status?.code,
                cause: error)
        default:
            KamiwazaError(.unreachable, "the server could not be reached: \(error.message)", cause: error)
        }
    }
}
