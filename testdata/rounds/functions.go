package main

// 300 functions that are called alike.

//go:noinline
func f000() { touch() }

//go:noinline
func f001() { touch() }

//go:noinline
func f002() { touch() }

//go:noinline
func f003() { touch() }

//go:noinline
func f004() { touch() }

//go:noinline
func f005() { touch() }

//go:noinline
func f006() { touch() }

//go:noinline
func f007() { touch() }

//go:noinline
func f008() { touch() }

//go:noinline
func f009() { touch() }

//go:noinline
func f010() { touch() }

//go:noinline
func f011() { touch() }

//go:noinline
func f012() { touch() }

//go:noinline
func f013() { touch() }

//go:noinline
func f014() { touch() }

//go:noinline
func f015() { touch() }

//go:noinline
func f016() { touch() }

//go:noinline
func f017() { touch() }

//go:noinline
func f018() { touch() }

//go:noinline
func f019() { touch() }

//go:noinline
func f020() { touch() }

//go:noinline
func f021() { touch() }

//go:noinline
func f022() { touch() }

//go:noinline
func f023() { touch() }

//go:noinline
func f024() { touch() }

//go:noinline
func f025() { touch() }

//go:noinline
func f026() { touch() }

//go:noinline
func f027() { touch() }

//go:noinline
func f028() { touch() }

//go:noinline
func f029() { touch() }

//go:noinline
func f030() { touch() }

//go:noinline
func f031() { touch() }

//go:noinline
func f032() { touch() }

//go:noinline
func f033() { touch() }

//go:noinline
func f034() { touch() }

//go:noinline
func f035() { touch() }

//go:noinline
func f036() { touch() }

//go:noinline
func f037() { touch() }

//go:noinline
func f038() { touch() }

//go:noinline
func f039() { touch() }

//go:noinline
func f040() { touch() }

//go:noinline
func f041() { touch() }

//go:noinline
func f042() { touch() }

//go:noinline
func f043() { touch() }

//go:noinline
func f044() { touch() }

//go:noinline
func f045() { touch() }

//go:noinline
func f046() { touch() }

//go:noinline
func f047() { touch() }

//go:noinline
func f048() { touch() }

//go:noinline
func f049() { touch() }

//go:noinline
func f050() { touch() }

//go:noinline
func f051() { touch() }

//go:noinline
func f052() { touch() }

//go:noinline
func f053() { touch() }

//go:noinline
func f054() { touch() }

//go:noinline
func f055() { touch() }

//go:noinline
func f056() { touch() }

//go:noinline
func f057() { touch() }

//go:noinline
func f058() { touch() }

//go:noinline
func f059() { touch() }

//go:noinline
func f060() { touch() }

//go:noinline
func f061() { touch() }

//go:noinline
func f062() { touch() }

//go:noinline
func f063() { touch() }

//go:noinline
func f064() { touch() }

//go:noinline
func f065() { touch() }

//go:noinline
func f066() { touch() }

//go:noinline
func f067() { touch() }

//go:noinline
func f068() { touch() }

//go:noinline
func f069() { touch() }

//go:noinline
func f070() { touch() }

//go:noinline
func f071() { touch() }

//go:noinline
func f072() { touch() }

//go:noinline
func f073() { touch() }

//go:noinline
func f074() { touch() }

//go:noinline
func f075() { touch() }

//go:noinline
func f076() { touch() }

//go:noinline
func f077() { touch() }

//go:noinline
func f078() { touch() }

//go:noinline
func f079() { touch() }

//go:noinline
func f080() { touch() }

//go:noinline
func f081() { touch() }

//go:noinline
func f082() { touch() }

//go:noinline
func f083() { touch() }

//go:noinline
func f084() { touch() }

//go:noinline
func f085() { touch() }

//go:noinline
func f086() { touch() }

//go:noinline
func f087() { touch() }

//go:noinline
func f088() { touch() }

//go:noinline
func f089() { touch() }

//go:noinline
func f090() { touch() }

//go:noinline
func f091() { touch() }

//go:noinline
func f092() { touch() }

//go:noinline
func f093() { touch() }

//go:noinline
func f094() { touch() }

//go:noinline
func f095() { touch() }

//go:noinline
func f096() { touch() }

//go:noinline
func f097() { touch() }

//go:noinline
func f098() { touch() }

//go:noinline
func f099() { touch() }

//go:noinline
func f100() { touch() }

//go:noinline
func f101() { touch() }

//go:noinline
func f102() { touch() }

//go:noinline
func f103() { touch() }

//go:noinline
func f104() { touch() }

//go:noinline
func f105() { touch() }

//go:noinline
func f106() { touch() }

//go:noinline
func f107() { touch() }

//go:noinline
func f108() { touch() }

//go:noinline
func f109() { touch() }

//go:noinline
func f110() { touch() }

//go:noinline
func f111() { touch() }

//go:noinline
func f112() { touch() }

//go:noinline
func f113() { touch() }

//go:noinline
func f114() { touch() }

//go:noinline
func f115() { touch() }

//go:noinline
func f116() { touch() }

//go:noinline
func f117() { touch() }

//go:noinline
func f118() { touch() }

//go:noinline
func f119() { touch() }

//go:noinline
func f120() { touch() }

//go:noinline
func f121() { touch() }

//go:noinline
func f122() { touch() }

//go:noinline
func f123() { touch() }

//go:noinline
func f124() { touch() }

//go:noinline
func f125() { touch() }

//go:noinline
func f126() { touch() }

//go:noinline
func f127() { touch() }

//go:noinline
func f128() { touch() }

//go:noinline
func f129() { touch() }

//go:noinline
func f130() { touch() }

//go:noinline
func f131() { touch() }

//go:noinline
func f132() { touch() }

//go:noinline
func f133() { touch() }

//go:noinline
func f134() { touch() }

//go:noinline
func f135() { touch() }

//go:noinline
func f136() { touch() }

//go:noinline
func f137() { touch() }

//go:noinline
func f138() { touch() }

//go:noinline
func f139() { touch() }

//go:noinline
func f140() { touch() }

//go:noinline
func f141() { touch() }

//go:noinline
func f142() { touch() }

//go:noinline
func f143() { touch() }

//go:noinline
func f144() { touch() }

//go:noinline
func f145() { touch() }

//go:noinline
func f146() { touch() }

//go:noinline
func f147() { touch() }

//go:noinline
func f148() { touch() }

//go:noinline
func f149() { touch() }

//go:noinline
func f150() { touch() }

//go:noinline
func f151() { touch() }

//go:noinline
func f152() { touch() }

//go:noinline
func f153() { touch() }

//go:noinline
func f154() { touch() }

//go:noinline
func f155() { touch() }

//go:noinline
func f156() { touch() }

//go:noinline
func f157() { touch() }

//go:noinline
func f158() { touch() }

//go:noinline
func f159() { touch() }

//go:noinline
func f160() { touch() }

//go:noinline
func f161() { touch() }

//go:noinline
func f162() { touch() }

//go:noinline
func f163() { touch() }

//go:noinline
func f164() { touch() }

//go:noinline
func f165() { touch() }

//go:noinline
func f166() { touch() }

//go:noinline
func f167() { touch() }

//go:noinline
func f168() { touch() }

//go:noinline
func f169() { touch() }

//go:noinline
func f170() { touch() }

//go:noinline
func f171() { touch() }

//go:noinline
func f172() { touch() }

//go:noinline
func f173() { touch() }

//go:noinline
func f174() { touch() }

//go:noinline
func f175() { touch() }

//go:noinline
func f176() { touch() }

//go:noinline
func f177() { touch() }

//go:noinline
func f178() { touch() }

//go:noinline
func f179() { touch() }

//go:noinline
func f180() { touch() }

//go:noinline
func f181() { touch() }

//go:noinline
func f182() { touch() }

//go:noinline
func f183() { touch() }

//go:noinline
func f184() { touch() }

//go:noinline
func f185() { touch() }

//go:noinline
func f186() { touch() }

//go:noinline
func f187() { touch() }

//go:noinline
func f188() { touch() }

//go:noinline
func f189() { touch() }

//go:noinline
func f190() { touch() }

//go:noinline
func f191() { touch() }

//go:noinline
func f192() { touch() }

//go:noinline
func f193() { touch() }

//go:noinline
func f194() { touch() }

//go:noinline
func f195() { touch() }

//go:noinline
func f196() { touch() }

//go:noinline
func f197() { touch() }

//go:noinline
func f198() { touch() }

//go:noinline
func f199() { touch() }

//go:noinline
func f200() { touch() }

//go:noinline
func f201() { touch() }

//go:noinline
func f202() { touch() }

//go:noinline
func f203() { touch() }

//go:noinline
func f204() { touch() }

//go:noinline
func f205() { touch() }

//go:noinline
func f206() { touch() }

//go:noinline
func f207() { touch() }

//go:noinline
func f208() { touch() }

//go:noinline
func f209() { touch() }

//go:noinline
func f210() { touch() }

//go:noinline
func f211() { touch() }

//go:noinline
func f212() { touch() }

//go:noinline
func f213() { touch() }

//go:noinline
func f214() { touch() }

//go:noinline
func f215() { touch() }

//go:noinline
func f216() { touch() }

//go:noinline
func f217() { touch() }

//go:noinline
func f218() { touch() }

//go:noinline
func f219() { touch() }

//go:noinline
func f220() { touch() }

//go:noinline
func f221() { touch() }

//go:noinline
func f222() { touch() }

//go:noinline
func f223() { touch() }

//go:noinline
func f224() { touch() }

//go:noinline
func f225() { touch() }

//go:noinline
func f226() { touch() }

//go:noinline
func f227() { touch() }

//go:noinline
func f228() { touch() }

//go:noinline
func f229() { touch() }

//go:noinline
func f230() { touch() }

//go:noinline
func f231() { touch() }

//go:noinline
func f232() { touch() }

//go:noinline
func f233() { touch() }

//go:noinline
func f234() { touch() }

//go:noinline
func f235() { touch() }

//go:noinline
func f236() { touch() }

//go:noinline
func f237() { touch() }

//go:noinline
func f238() { touch() }

//go:noinline
func f239() { touch() }

//go:noinline
func f240() { touch() }

//go:noinline
func f241() { touch() }

//go:noinline
func f242() { touch() }

//go:noinline
func f243() { touch() }

//go:noinline
func f244() { touch() }

//go:noinline
func f245() { touch() }

//go:noinline
func f246() { touch() }

//go:noinline
func f247() { touch() }

//go:noinline
func f248() { touch() }

//go:noinline
func f249() { touch() }

//go:noinline
func f250() { touch() }

//go:noinline
func f251() { touch() }

//go:noinline
func f252() { touch() }

//go:noinline
func f253() { touch() }

//go:noinline
func f254() { touch() }

//go:noinline
func f255() { touch() }

//go:noinline
func f256() { touch() }

//go:noinline
func f257() { touch() }

//go:noinline
func f258() { touch() }

//go:noinline
func f259() { touch() }

//go:noinline
func f260() { touch() }

//go:noinline
func f261() { touch() }

//go:noinline
func f262() { touch() }

//go:noinline
func f263() { touch() }

//go:noinline
func f264() { touch() }

//go:noinline
func f265() { touch() }

//go:noinline
func f266() { touch() }

//go:noinline
func f267() { touch() }

//go:noinline
func f268() { touch() }

//go:noinline
func f269() { touch() }

//go:noinline
func f270() { touch() }

//go:noinline
func f271() { touch() }

//go:noinline
func f272() { touch() }

//go:noinline
func f273() { touch() }

//go:noinline
func f274() { touch() }

//go:noinline
func f275() { touch() }

//go:noinline
func f276() { touch() }

//go:noinline
func f277() { touch() }

//go:noinline
func f278() { touch() }

//go:noinline
func f279() { touch() }

//go:noinline
func f280() { touch() }

//go:noinline
func f281() { touch() }

//go:noinline
func f282() { touch() }

//go:noinline
func f283() { touch() }

//go:noinline
func f284() { touch() }

//go:noinline
func f285() { touch() }

//go:noinline
func f286() { touch() }

//go:noinline
func f287() { touch() }

//go:noinline
func f288() { touch() }

//go:noinline
func f289() { touch() }

//go:noinline
func f290() { touch() }

//go:noinline
func f291() { touch() }

//go:noinline
func f292() { touch() }

//go:noinline
func f293() { touch() }

//go:noinline
func f294() { touch() }

//go:noinline
func f295() { touch() }

//go:noinline
func f296() { touch() }

//go:noinline
func f297() { touch() }

//go:noinline
func f298() { touch() }

//go:noinline
func f299() { touch() }

var all = [...]func(){
	f000, f001, f002, f003, f004, f005, f006, f007, f008, f009,
	f010, f011, f012, f013, f014, f015, f016, f017, f018, f019,
	f020, f021, f022, f023, f024, f025, f026, f027, f028, f029,
	f030, f031, f032, f033, f034, f035, f036, f037, f038, f039,
	f040, f041, f042, f043, f044, f045, f046, f047, f048, f049,
	f050, f051, f052, f053, f054, f055, f056, f057, f058, f059,
	f060, f061, f062, f063, f064, f065, f066, f067, f068, f069,
	f070, f071, f072, f073, f074, f075, f076, f077, f078, f079,
	f080, f081, f082, f083, f084, f085, f086, f087, f088, f089,
	f090, f091, f092, f093, f094, f095, f096, f097, f098, f099,
	f100, f101, f102, f103, f104, f105, f106, f107, f108, f109,
	f110, f111, f112, f113, f114, f115, f116, f117, f118, f119,
	f120, f121, f122, f123, f124, f125, f126, f127, f128, f129,
	f130, f131, f132, f133, f134, f135, f136, f137, f138, f139,
	f140, f141, f142, f143, f144, f145, f146, f147, f148, f149,
	f150, f151, f152, f153, f154, f155, f156, f157, f158, f159,
	f160, f161, f162, f163, f164, f165, f166, f167, f168, f169,
	f170, f171, f172, f173, f174, f175, f176, f177, f178, f179,
	f180, f181, f182, f183, f184, f185, f186, f187, f188, f189,
	f190, f191, f192, f193, f194, f195, f196, f197, f198, f199,
	f200, f201, f202, f203, f204, f205, f206, f207, f208, f209,
	f210, f211, f212, f213, f214, f215, f216, f217, f218, f219,
	f220, f221, f222, f223, f224, f225, f226, f227, f228, f229,
	f230, f231, f232, f233, f234, f235, f236, f237, f238, f239,
	f240, f241, f242, f243, f244, f245, f246, f247, f248, f249,
	f250, f251, f252, f253, f254, f255, f256, f257, f258, f259,
	f260, f261, f262, f263, f264, f265, f266, f267, f268, f269,
	f270, f271, f272, f273, f274, f275, f276, f277, f278, f279,
	f280, f281, f282, f283, f284, f285, f286, f287, f288, f289,
	f290, f291, f292, f293, f294, f295, f296, f297, f298, f299,
}
