//# http
import Capabilities
import HTTPClient
import HTTPCore
import JSON
import Registry
import Synchronization

/// Asks the weather server. All actions share one client, which is made when the first of them needs it.
final class WeatherServer: Sendable {
    private let address: String
    private let surroundings: Surroundings
    private let made = Mutex<HTTPClient?>(nil)

    init(_ address: String, _ surroundings: Surroundings) {
        self.address = address
        self.surroundings = surroundings
    }

    var actions: [Action] {
        [
            Action("weather.now", "Show the weather of a city", .reads, .argument("city", "The city")) {
                context, city in
                try await self.weather(in: city, context)
            }
            .sending()
            .example("martlet weather now Bern", "Asks the server"),
            Action(
                "weather.watch", "Show the weather of a city every minute", .reads, .argument("city", "The city"),
                .option("times", "How often", in: 1...1000, default: 10)
            ) { context, city, times in
                for time in 1...times {
                    context.progress("reading \(time) of \(times)", completed: time - 1, of: times)
                    let weather = try await self.weather(in: city, context)
                    try await context.emit(Self.reading.event(weather, text: "\(weather.degrees) °C\n"))
                    if time < times { try await context.host.clock.sleep(for: .seconds(60)) }
                }
                return times
            }
            .sending().streaming([Self.reading.declaration])
            .example("martlet weather watch Bern --times 3 -o ndjson", "An event for each reading"),
        ]
    }

    static let reading = EventKind<CityWeather>(
        "weather", "A reading", [Field("degrees", "Temperature in °C") { $0.degrees }])

    func close() async {
        await made.withLock { $0.take() }?.close()
    }

    private func weather(in city: String, _ context: ActionContext) async throws -> CityWeather {
        let url = try HTTPURL("\(address)/\(PercentEncoding.encode(city))")
        //# http&!secret
        let request = HTTPRequest(.get, url)
        //# http&secret
        var request = HTTPRequest(.get, url)
        if let key = try await WeatherKey.key(context) {
            key.withText { request.headers["X-Key"] = $0 }
        }
        //# http
        let response = try await client(context).send(request).requireSuccess()
        return try CityWeather(city, JSON(parsing: response.body))
    }

    /// A client that trusts what the user trusts, and uses the proxies of the environment.
    private func client(_ context: ActionContext) async throws -> HTTPClient {
        let trust = try await context.provider(of: (any TrustStore).self)
        return made.withLock { made in
            if let client = made { return client }
            var configuration = HTTPClient.Configuration()
            if let trust { configuration.trust = TrustDomain(trust) }
            configuration.proxies = ProxySettings(environment: surroundings.environment)
            configuration.feature = "weather"
            let client = HTTPClient(configuration)
            made = client
            return client
        }
    }
}

/// The weather of a city.
struct CityWeather: Record {
    let city: String
    let degrees: Double

    init(_ city: String, _ json: JSON) throws {
        guard let degrees = json["degrees"]?.double else { throw WeatherError.unreadable }
        self.city = city
        self.degrees = degrees
    }

    static let fields: [Field<CityWeather>] = [
        Field("city", "Where it was measured", .name) { $0.city },
        Field("degrees", "Temperature in °C") { $0.degrees },
    ]
}

/// Why there is no weather.
enum WeatherError: Failure {
    case unreadable

    var code: String { "weather.unreadable" }
    var exit: ExitCode { .failed }
    var message: String {
        "the weather server answered without degrees; check the address with 'martlet config get weather.server'"
    }
}
//#
