package rich

// zones are the offsets of the time zones that Ruby knows by name.
const zones = `
-12:00 aoe dateline idlw y
-11:00 nt nut samoa sst x
-10:00 ahst ckt hast hawaiian hst taht w
-09:00 akst alaskan gamt hadt hdt v yst
-08:30 mart
-08:00 akdt pacific pst u ydt
-07:00 mountain mst pdt t
-06:00 central cst east galt mdt mexico s
-05:00 act cdt cist cot easst eastern ect est pet r
-04:00 ast atlantic bot cidst clt edt fkt gyt q vet
-03:30 newfoundland
-03:00 adt art brt clst fkst gft greenland p pmst pyst rott srt uyt warst wgt
-02:30 nst
-02:00 at brst fnt o pmdt uyst wgst
-01:30 ndt
-01:00 azores azot cvt egt n
+00:00 azost egst gmt greenwich ut utc wet wt z
+01:00 a bst cet fwt met mewt mez romance swt wat west
+02:00 b cat cest eet egypt fle fst gtb jerusalem mest mesz sast wast
+03:00 arab arabic bt c eat eest fet idt msk russian syot trt
+03:30 iran irst
+04:00 arabian azt caucasus d get kuyt msd mut ret samt sct
+04:30 afghanistan aft irdt
+05:00 aqtt azst e ekaterinburg mawt mvt orat pkt tft tjt tmt uzt yekt
+05:30 india ist
+05:45 nepal npt
+06:00 almt btt f iot kgt omst qyzt vost yekst
+06:30 cct mmt myanmar
+07:00 cxt davt g hovt ict krat novst novt omsst wib
+08:00 awst bnt cast china chot h hkt hovst irkt krast myt pht sgt taipei ulat wadt wita
+08:45 acwst
+09:00 awdt chost i irkst jst korea kst pwt tlt tokyo ulast wit yakt yakutsk
+09:30 acst
+10:00 aest chst chut ddut gst k pgt tasmania vladivostok vlat yakst yapt
+10:30 acdt lhst
+11:00 aedt eadt kost l lhdt magt nct nft pont sakt sbt sret vlast vut
+12:00 anast anat fiji fjt gilt idle m magst mht nfdt nrt nzst nzt petst pett tvt wakt wft
+12:45 chast
+13:00 fjst nzdt phot tkt tonga tot
+13:45 chadt
+14:00 lint tost
`
