//# screen
import JSON
import Registry
import Screens

/// The screens of the feature.
enum WeatherScreens {
    /// A greeting, and what can be done with it.
    static func card(_ greeting: String) -> Screen {
        Screen("weather.card", "Greeting", .detail, .argument("name", "The person to greet")) { screen, name in
            try await screen.show(
                Block(
                    .text(RichText("\(greeting) \(name)!", bold: true)),
                    links: [.action("weather.greet", "Greet again", key: "g", ["name": .value(.string(name))])]))
        }
    }
    //# screen&storage

    /// The notes, each with what can be done with it.
    static func addNotes(to registry: inout RegistryBuilder) {
        registry.addScreen(
            "weather.board", "Notes", .tab("Weather"), listing: "weather.notes", id: "id",
            links: [
                .action("weather.forget", "Forget", key: "d", ["id": .row("id")]),
                .screen("weather.card", "Greet", key: "g", ["name": .row("text")]),
            ], every: .seconds(5))
    }
    //# screen
}
//#
