/// Texts of several kinds, with their token counts by a real tokeniser (o200k_base).
enum CountedTexts {
    static let all: [(text: String, tokens: Int)] = [
        // English prose.
        (
            "The ferry left an hour late because the harbour master could not find the key to the winch. Nobody on "
                + "board minded much: the sea was calm, the kitchen was open, and the old man with the accordion had begun "
                + "to play songs that everyone seemed to know. When they finally moved, the town grew small behind them, "
                + "and its lamps came on one after another.",
            75
        ),
        // Swift.
        (
            "func harvest(_ fields: [Field], until limit: Int) async throws -> [Crop] {\n    var crops: [Crop] = "
                + "[]\n    for field in fields where field.isRipe {\n        guard crops.count < limit else { break }\n "
                + "       crops.append(try await field.reap(with: .scythe))\n    }\n    return crops.sorted { $0.weight "
                + "> $1.weight }\n}\n",
            82
        ),
        // JSON.
        (
            "{\"station\":\"Nordkap\",\"readings\":[{\"time\":\"2026-11-20T09:30:00Z\",\"wind_ms\":14.2,\"gust_ms\":21.7,"
                + "\"temp_c\":-3.5},{\"time\":\"2026-11-20T09:40:00Z\",\"wind_ms\":13.8,\"gust_ms\":20.1,\"temp_c\":-3.6}],\"ba"
                + "ttery\":{\"volts\":12.61,\"charging\":false}}",
            100
        ),
        // German.
        (
            "Der Uhrmacher legte die Lupe beiseite und schüttelte den Kopf. Seit vierzig Jahren hatte er keine Feder "
                + "gesehen, die so gründlich verbogen war. Draußen läutete die Glocke, und die Straße füllte sich mit Leuten, "
                + "die über das Wetter, die Züge und die ungewöhnlich hohen Preise für Äpfel sprachen.",
            77
        ),
        // French.
        (
            "La boulangère avait déjà fermé ses volets quand le facteur est arrivé, trempé jusqu'aux os. Il déposa "
                + "le colis devant la porte, écrivit quelques mots sur un bout de papier et repartit aussitôt, parce que "
                + "la rivière montait et que le pont était vieux.",
            61
        ),
        // Russian.
        (
            "Старый мельник сидел у окна и смотрел, как над рекой поднимается туман. Завтра приедет внук из города, "
                + "и нужно было починить лодку, наловить рыбы и найти на чердаке ту самую удочку, о которой мальчик спрашивал "
                + "каждое лето.",
            71
        ),
        // Chinese.
        (
            "老木匠把最后一块木板钉好,退后两步看了看。这张桌子用了三个月的时间,每一条缝都严丝合缝。他想起年轻的时候,师父总是说,慢一点没有关系,重要的是心里要安静。窗外下着小雨,院子里的猫在屋檐下睡觉。",
            86
        ),
        // Japanese.
        (
            "駅前の古い喫茶店は、朝の七時になると静かに灯りをともす。店主は豆を挽きながら、昨日の新聞をもう一度読む。常連の客は何も言わずに同じ席に座り、窓の外を走る電車を眺めている。",
            80
        ),
        // Shell.
        (
            "$ ls -la /var/log | head -4\ntotal 1848\ndrwxr-xr-x 11 root root   4096 Nov 21 06:25 .\ndrwxr-xr-x 12 "
                + "root root   4096 Mar 02  2026 ..\n-rw-r--r--  1 root root  29416 Nov 20 23:59 alternatives.log\n",
            86
        ),
    ]
}
