import Capabilities
public import Registry
public import Settings

/// Greets people.
public struct WeatherFeature: Feature {
    static let greeting = Setting("greeting", "The first word of a greeting", default: "Hello")
    public static let manifest = Manifest(
        id: "weather", summary: "Greet people", version: "0.1.0", settings: [greeting.declaration])
    private let greeting: String

    public init(_ settings: FeatureSettings) {
        greeting = settings[Self.greeting]
    }

    public func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("weather.greet", "Greet a person", .reads, .argument("name", "The person to greet")) { _, name in
                "\(greeting) \(name)!"
            }
            .example("martlet weather greet Ada", "Prints a greeting"))
    }
}
