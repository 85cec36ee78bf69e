import Capabilities
public import HTTPClient
import JSON

/// What a person needs to sign in on another device (RFC 8628, section 3.2).
public struct DeviceCode: Sendable {
    /// What is typed there, such as `WDJB-MJHT`.
    public let userCode: String
    /// Where it is typed.
    public let verificationURI: HTTPURL
    /// The same address with the code in it, to be opened or scanned.
    public let completeURI: HTTPURL?
    /// How long there is.
    public let lifetime: Duration
    let interval: Duration
    let deviceCode: Secret

    init(_ json: JSON) throws(SignInError) {
        guard let device = json["device_code"]?.string, !device.isEmpty,
            let user = ForeignWords.line(json["user_code"]?.string), user.count <= 64,
            // Google, older than the standard, writes `url`.
            let address = json["verification_uri"]?.string ?? json["verification_url"]?.string,
            let uri = try? HTTPURL(address)
        else { throw SignInError(.badAnswer, "the server's answer lacks the code or the address to sign in with") }
        deviceCode = Secret(device)
        userCode = user
        verificationURI = uri
        let complete = json["verification_uri_complete"]?.string
        // Only a convenience, so one that is no address is left out.
        completeURI = complete.flatMap { try? HTTPURL($0) }.flatMap { $0.isSameOrigin(as: uri) ? $0 : nil }
        lifetime = .seconds(Self.seconds(json["expires_in"], atLeast: 1, atMost: 3600, else: 600))
        interval = .seconds(Self.seconds(json["interval"], atLeast: 1, atMost: 300, else: 5))
    }

    private static func seconds(_ json: JSON?, atLeast least: Int, atMost most: Int, else standard: Int) -> Int {
        guard let value = json?.double, value > 0 else { return standard }
        return Int(min(max(value.rounded(.up), Double(least)), Double(most)))
    }
}
