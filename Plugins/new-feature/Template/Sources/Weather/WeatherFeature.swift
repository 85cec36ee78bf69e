import Capabilities
public import Registry
public import Settings
//# storage
import StorageKit

//#

/// Greets people.
public struct WeatherFeature: Feature {
    static let greeting = Setting("greeting", "The first word of a greeting", default: "Hello")
    //# http
    static let server = Setting(
        "server", "The address of the weather server", default: "http://127.0.0.1:8080", risk: .sends)
    //# !http&!storage&!secret
    public static let manifest = Manifest(
        id: "weather", summary: "Greet people", version: "0.1.0", settings: [greeting.declaration])
    //# http|storage|secret
    public static let manifest = Manifest(
        id: "weather", summary: "Greet people", version: "0.1.0",
        //# storage
        provides: [.shared((any DataStore).self)],
        //# http|secret
        needs: [
            //# http
            .optional((any TrustStore).self),
            //# secret
            .one((any SecretStore).self),
            //# http|secret
        ],
        //# http|storage|secret
        settings: [
            greeting.declaration,
            //# http
            server.declaration,
                //# http|storage|secret
        ])
    //#
    private let greeting: String
    //# http
    private let server: String
    //# background
    private let minutes = WeatherMinutes()
    //#

    public init(_ settings: FeatureSettings) {
        greeting = settings[Self.greeting]
        //# http
        server = settings[Self.server]
        //#
    }

    public func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("weather.greet", "Greet a person", .reads, .argument("name", "The person to greet")) { _, name in
                "\(greeting) \(name)!"
            }
            .example("martlet weather greet Ada", "Prints a greeting"))
        //# http
        let server = WeatherServer(server, registry.surroundings)
        registry.closes(server.close)
        for action in server.actions { registry.add(action) }
        //# storage
        let notes = WeatherNotes(registry.surroundings)
        registry.closes(notes.close)
        registry.provide(
            (any DataStore).self,
            DatabaseStore(id: "weather.notes", summary: "Notes of the feature weather", database: notes.database))
        for action in notes.actions { registry.add(action) }
        //# screen
        registry.add(WeatherScreens.card(greeting))
        //# screen&storage
        WeatherScreens.addNotes(to: &registry)
        //# secret
        registry.add(WeatherKey.check)
        //# background
        registry.add(minutes.action)
        //#
    }
}
//# background

extension WeatherFeature: RunningFeature {
    /// Runs while a session uses the feature.
    public func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        try await minutes.count(in: host, report: report)
    }
}
//#
