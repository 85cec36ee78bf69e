// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Courier",
    products: [.library(name: "Courier", targets: ["Courier"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        .target(name: "Courier", dependencies: [.product(name: "Core", package: "Core")]),
        .testTarget(name: "CourierTests", dependencies: ["Courier", .product(name: "Core", package: "Core")]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
