/// How a session ended.
public struct KamiwazaLogout: Sendable, Hashable {
    /// A page that ends the session of the browser too, where there is one.
    public let browserURL: String?
}

extension KamiwazaLogout {
    init() {
        browserURL = nil
    }

    init(_ members: Members) {
        browserURL = members.text("front_channel_logout_url")
    }
}
