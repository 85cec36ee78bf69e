import Courier
import Registry
import Testing

@Test("names what it needs")
func namesNeed() {
    #expect(CourierFeature.manifest.needs.map(\.capability.description) == ["ToolSource"])
}
