import Testing

/// The plugins, the builds that the traits choose, and what is linked. All work in one clone, one after the other,
/// because SwiftPM locks a package while it builds.
@Suite("in a clone", .inClone, .serialized, .timeLimit(.minutes(60)))
struct PluginTests {
    let clone: Clone

    init() throws {
        clone = try #require(Clone.current)
    }
}
