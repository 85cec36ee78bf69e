import Capabilities
public import Registry
import Settings

extension Host {
    /// All that is ignored so, a sentence for each feature.
    var absences: [String] { Set(settings.ignored.map(\.feature)).sorted().map(absence) }

    /// Says that what is set for a feature that is not in this build is ignored.
    public func absence(of feature: String) -> String {
        let origins = settings.ignored.filter { $0.feature == feature }.map(\.origin.words)
        let places = origins.enumerated().filter { !origins[..<$0.offset].contains($0.element) }.map(\.element)
        return "the settings of \(feature) in \(places.joined(separator: ", ")) are ignored, because \(feature) "
            + (catalogue.absent[feature] ?? "is not in this build")
    }
}
