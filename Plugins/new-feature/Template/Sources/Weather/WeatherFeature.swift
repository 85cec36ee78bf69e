import Capabilities
public import Registry
public import Settings

/// Greets people in the tone they prefer.
public struct WeatherFeature: Feature {
    static let tone = Setting("tone", "How people are addressed", default: Tone.friendly)

    public static let manifest = Manifest(
        id: "weather", summary: "Greet people in the tone they prefer", version: "0.1.0",
        settings: [tone.declaration])

    private let tone: Tone

    public init(_ settings: FeatureSettings) {
        tone = settings[Self.tone]
    }

    public func register(in registry: inout RegistryBuilder) {
        registry.add(greet)
    }

    private var greet: Action {
        Action(
            "weather.greet", "Greet a person", .reads,
            .argument("name", "The person to greet"),
            .option("tone", "How to address them; without it, as the settings say", as: Tone?.self)
        ) { _, name, tone in
            Greeting(name: name, tone: tone ?? self.tone)
        }
        .instant()
        .example("martlet weather greet Ada --tone formal", "Politely")
    }
}
