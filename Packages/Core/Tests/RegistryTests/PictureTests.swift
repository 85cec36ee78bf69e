import JSON
import Registry
import Testing

@Suite("Pictures of actions") struct PictureTests {
    private let picture = Picture("plan.png", "image/png", [0x89, 0x50, 0, 0xFF], saving: "--save FILE writes it")

    @Test("A picture is the same after its event, which adds nothing to a text")
    func roundTrip() {
        let event = Picture.kind.event(picture)
        #expect(Picture(event) == picture && event.text == nil)
        #expect(Picture(Picture.kind.event(Picture("", "", [], saving: "")))?.bytes == [])
    }

    @Test("Other events, and those with a member that is missing or wrong, carry none")
    func others() {
        let fields = Picture.kind.event(picture).fields
        #expect(Picture(ActionEvent("message", fields)) == nil)
        for (name, value) in [("data", "%" as JSON), ("data", 7), ("name", .null), ("media_type", [])] {
            var wrong = fields
            wrong[name] = value
            #expect(Picture(ActionEvent("picture", wrong)) == nil, "\(name)")
        }
    }
}
