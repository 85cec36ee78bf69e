import Capabilities
import JSON
import Registry
import Testing

/// A digit of a feature's number.
private protocol Digit: Sendable { static var value: Int { get } }

private enum Zero: Digit { static let value = 0 }
private enum One: Digit { static let value = 1 }
private enum Two: Digit { static let value = 2 }
private enum Three: Digit { static let value = 3 }
private enum Four: Digit { static let value = 4 }
private enum Five: Digit { static let value = 5 }
private enum Six: Digit { static let value = 6 }
private enum Seven: Digit { static let value = 7 }
private enum Eight: Digit { static let value = 8 }
private enum Nine: Digit { static let value = 9 }

/// The capability that the feature of that number provides.
private struct Product<Hundreds: Digit, Tens: Digit, Ones: Digit>: Sendable {}

/// One of many numbered features, each with ten actions. It needs the first of its group of ten.
private struct Numbered<Hundreds: Digit, Tens: Digit, Ones: Digit>: PlainFeature {
    private typealias Own = Product<Hundreds, Tens, Ones>
    private typealias First = Product<Hundreds, Tens, Zero>

    static var manifest: Manifest {
        Manifest(
            id: "f\(number)", summary: "Number \(number)", version: "1", provides: [.single(Own.self)],
            needs: Ones.value == 0 ? [] : [.one(First.self)])
    }

    static var number: Int { Hundreds.value * 100 + Tens.value * 10 + Ones.value }

    func register(in registry: inout RegistryBuilder) {
        registry.provide(Own.self, Own())
        for index in 0..<10 {
            registry.add(
                Action("f\(Self.number).do\(index)", "Does \(index)", .reads, .argument("word", "A word")) { _, word in
                    word
                })
        }
    }
}

private func numbered<H: Digit, T: Digit, O: Digit>(_ h: H.Type, _ t: T.Type, _ o: O.Type) -> any Feature.Type {
    Numbered<H, T, O>.self
}

@Suite("A composition of 200 features and 2,000 actions")
struct ScaleTests {
    private static var features: [any Feature.Type] {
        let digits: [any Digit.Type] = [
            Zero.self, One.self, Two.self, Three.self, Four.self, Five.self, Six.self, Seven.self, Eight.self,
            Nine.self,
        ]
        var all: [any Feature.Type] = []
        for hundreds in digits.prefix(2) {
            for tens in digits {
                // Listed in reverse, so that the order of dependencies differs from the order of the list.
                for ones in digits.reversed() { all.append(numbered(hundreds, tens, ones)) }
            }
        }
        return all
    }

    @Test("A large composition has no problems, and every action is found")
    func everything() throws {
        let composition = try compose(Self.features)
        #expect(composition.complaints.isEmpty)
        #expect(composition.features.count == 200)
        #expect(composition.registry.actions.all.count == 2000)
        for number in 0..<200 {
            for index in 0..<10 {
                let action = try composition.registry.actions.find("f\(number).do\(index)")
                #expect(composition.registry.actions.owner(of: action) == "f\(number)")
            }
        }
    }

    @Test("A large composition is ordered by its needs")
    func order() throws {
        let composition = try compose(Self.features)
        var seen: Set<String> = []
        for composed in composition.features {
            #expect(composed.requires.allSatisfy(seen.contains), "\(composed.manifest.id)")
            seen.insert(composed.manifest.id)
        }
        #expect(composition.closure(of: "f123") == ["f123", "f120"])
    }
}
