import Capabilities
import HTTPClient

/// Signs requests to the tools of a platform with the person's session there. Requests to other servers, which a platform may
/// name too, get nothing.
final class PlatformSignIn: ResourceSignIn {
    private let authenticator: any Authenticator
    private let profile: ServerID
    private let platform: HTTPURL

    init(_ authenticator: any Authenticator, profile: String, at platform: HTTPURL) {
        self.authenticator = authenticator
        self.profile = ServerID(profile)
        self.platform = platform
    }

    func sign(_ request: inout RequestHead, for resource: ResourceAddress) async throws {
        guard try HTTPURL(request.url).isSameOrigin(as: platform) else { return }
        try await authenticator.sign(&request, for: profile)
    }

    func answer(
        _ challenge: ResourceChallenge, to refused: RequestHead, for resource: ResourceAddress
    ) async throws -> Bool {
        guard challenge.reason == .signIn, try HTTPURL(refused.url).isSameOrigin(as: platform) else { return false }
        return try await authenticator.renew(refused, for: profile)
    }

    /// The session belongs to the profile, and ends with it.
    func forget(_ resource: ResourceAddress) async throws -> Bool { false }
}
