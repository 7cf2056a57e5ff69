// Made by scripts/assigned-numbers from bluetooth-numbers 1.1.2 (2024-08-28), bumble 0.0.236 (2026-10-15).
// Do not edit.
// swift-format-ignore-file

/// Entries of four hexadecimal digits and a name, sorted by number, with a tab between them: constants of the program that
/// are searched where they are.
enum AssignedNumbersTable {
  /// UUIDs of 16 bits: 1296.
  static let uuids: StaticString = #"""
    0001SDP	0002UDP	0003RFCOMM	0004TCP	0005TCP-BIN	0006TCS-AT	0007ATT	0008OBEX	0009IP	000AFTP	000CHTTP	000EWSP	000FBNEP	\#
    0010UPNP	0011HIDP	0012HardcopyControlChannel	0014HardcopyDataChannel	0016HardcopyNotification	0017AVCTP	0019AVDTP	\#
    001BCMTP	001EMCAPControlChannel	001FMCAPDataChannel	0100L2CAP	1000ServiceDiscoveryServerServiceClassID	\#
    1001BrowseGroupDescriptorServiceClassID	1101SerialPort	1102LANAccessUsingPPP	1103DialupNetworking	1104IrMCSync	\#
    1105OBEXObjectPush	1106OBEXFileTransfer	1107IrMCSyncCommand	1108Headset	1109CordlessTelephony	110AAudioSource	\#
    110BAudioSink	110CA/V_RemoteControlTarget	110DAdvancedAudioDistribution	110EA/V_RemoteControl	\#
    110FA/V_RemoteControlController	1110Intercom	1111Fax	1112Headset - Audio Gateway	1113WAP	1114WAP_CLIENT	1115PANU	\#
    1116NAP	1117GN	1118DirectPrinting	1119ReferencePrinting	111ABasic Imaging Profile	111BImagingResponder	\#
    111CImagingAutomaticArchive	111DImagingReferencedObjects	111EHandsfree	111FHandsfreeAudioGateway	\#
    1120DirectPrintingReferenceObjectsService	1121ReflectedUI	1122BasicPrinting	1123PrintingStatus	\#
    1124HumanInterfaceDeviceService	1125HardcopyCableReplacement	1126HCR_Print	1127HCR_Scan	1128Common_ISDN_Access	\#
    112DSIM_Access	112EPhonebook Access - PCE	112FPhonebook Access - PSE	1130Phonebook Access	1131Headset - HS	\#
    1132Message Access Server	1133Message Notification Server	1134Message Access Profile	1135GNSS	1136GNSS_Server	\#
    11373D Display	11383D Glasses	11393D Synchronization	113AMPS Profile	113BMPS SC	113CCTN Access Service	\#
    113DCTN Notification Service	113ECTN Profile	1200PnPInformation	1201GenericNetworking	1202GenericFileTransfer	\#
    1203GenericAudio	1204GenericTelephony	1205UPNP_Service	1206UPNP_IP_Service	1233Deprecated Fast Pair Model ID	\#
    1234Deprecated Fast Pair Key-based Pairing	1235Deprecated Fast Pair Passkey	1236Deprecated Fast Pair Account Key	\#
    1237Deprecated Fast Pair Data	1300ESDP_UPNP_IP_PAN	1301ESDP_UPNP_IP_LAP	1302ESDP_UPNP_L2CAP	1303VideoSource	\#
    1304VideoSink	1305VideoDistribution	1400HDP	1401HDP Source	1402HDP Sink	1800Generic Access	1801Generic Attribute	\#
    1802Immediate Alert	1803Link Loss	1804Tx Power	1805Current Time	1806Reference Time Update	1807Next DST Change	\#
    1808Glucose	1809Health Thermometer	180ADevice Information	180DHeart Rate	180EPhone Alert Status	180FBattery	\#
    1810Blood Pressure	1811Alert Notification	1812Human Interface Device	1813Scan Parameters	1814Running Speed and Cadence	\#
    1815Automation IO	1816Cycling Speed and Cadence	1818Cycling Power	1819Location and Navigation	181AEnvironmental Sensing	\#
    181BBody Composition	181CUser Data	181DWeight Scale	181EBond Management	181FContinuous Glucose Monitoring	\#
    1820Internet Protocol Support	1821Indoor Positioning	1822Pulse Oximeter	1823HTTP Proxy	1824Transport Discovery	\#
    1825Object Transfer	1826Fitness Machine	1827Mesh Provisioning	1828Mesh Proxy	1829Reconnection Configuration	\#
    183AInsulin Delivery	183BBinary Sensor	183CEmergency Configuration	183DAuthorization Control	\#
    183EPhysical Activity Monitor	183FElapsed Time	1840Generic Health Sensor	1843Audio Input Control	1844Volume Control	\#
    1845Volume Offset Control	1846Coordinated Set Identification	1847Device Time	1848Media Control	\#
    1849Generic Media Control	184AConstant Tone Extension	184BTelephone Bearer	184CGeneric Telephone Bearer	\#
    184DMicrophone Control	184EAudio Stream Control	184FBroadcast Audio Scan	1850Published Audio Capabilities	\#
    1851Basic Audio Announcement	1852Broadcast Audio Announcement	1853Common Audio	1854Hearing Access	1855TMAS	\#
    1856Public Broadcast Announcement	1857Electronic Shelf Label	1858Gaming Audio	1859Mesh Proxy Solicitation	\#
    2800Primary Service	2801Secondary Service	2802Include	2803Characteristic	2900Characteristic Extended Properties	\#
    2901Characteristic User Description	2902Client Characteristic Configuration	2903Server Characteristic Configuration	\#
    2904Characteristic Presentation Format	2905Characteristic Aggregate Format	2906Valid Range	\#
    2907External Report Reference	2908Report Reference	2909Number of Digitals	290AValue Trigger Setting	\#
    290BEnvironmental Sensing Configuration	290CEnvironmental Sensing Measurement	290DEnvironmental Sensing Trigger Setting	\#
    290ETime Trigger Setting	290FComplete BR-EDR Transport Block Data	2A00Device Name	2A01Appearance	\#
    2A02Peripheral Privacy Flag	2A03Reconnection Address	2A04Peripheral Preferred Connection Parameters	2A05Service Changed	\#
    2A06Alert Level	2A07Tx Power Level	2A08Date Time	2A09Day of Week	2A0ADay Date Time	2A0BExact Time 100	\#
    2A0CExact Time 256	2A0DDST Offset	2A0ETime Zone	2A0FLocal Time Information	2A10Secondary Time Zone	2A11Time with DST	\#
    2A12Time Accuracy	2A13Time Source	2A14Reference Time Information	2A15Time Broadcast	2A16Time Update Control Point	\#
    2A17Time Update State	2A18Glucose Measurement	2A19Battery Level	2A1ABattery Power State	2A1BBattery Level State	\#
    2A1CTemperature Measurement	2A1DTemperature Type	2A1EIntermediate Temperature	2A1FTemperature Celsius	\#
    2A20Temperature Fahrenheit	2A21Measurement Interval	2A22Boot Keyboard Input Report	2A23System ID	\#
    2A24Model Number String	2A25Serial Number String	2A26Firmware Revision String	2A27Hardware Revision String	\#
    2A28Software Revision String	2A29Manufacturer Name String	2A2AIEEE 11073-20601 Regulatory Certification Data List	\#
    2A2BCurrent Time	2A2CMagnetic Declination	2A2FPosition 2D	2A30Position 3D	2A31Scan Refresh	\#
    2A32Boot Keyboard Output Report	2A33Boot Mouse Input Report	2A34Glucose Measurement Context	\#
    2A35Blood Pressure Measurement	2A36Intermediate Cuff Pressure	2A37Heart Rate Measurement	2A38Body Sensor Location	\#
    2A39Heart Rate Control Point	2A3ARemovable	2A3BService Required	2A3CScientific Temperature Celsius	2A3DString	\#
    2A3ENetwork Availability	2A3FAlert Status	2A40Ringer Control point	2A41Ringer Setting	2A42Alert Category ID Bit Mask	\#
    2A43Alert Category ID	2A44Alert Notification Control Point	2A45Unread Alert Status	2A46New Alert	\#
    2A47Supported New Alert Category	2A48Supported Unread Alert Category	2A49Blood Pressure Feature	2A4AHID Information	\#
    2A4BReport Map	2A4CHID Control Point	2A4DReport	2A4EProtocol Mode	2A4FScan Interval Window	2A50PnP ID	\#
    2A51Glucose Feature	2A52Record Access Control Point	2A53RSC Measurement	2A54RSC Feature	2A55SC Control Point	\#
    2A56Digital	2A57Digital Output	2A58Analog	2A59Analog Output	2A5AAggregate	2A5BCSC Measurement	2A5CCSC Feature	\#
    2A5DSensor Location	2A5EPLX Spot-Check Measurement	2A5FPLX Continuous Measurement Characteristic	2A60PLX Features	\#
    2A62Pulse Oximetry Control Point	2A63Cycling Power Measurement	2A64Cycling Power Vector	2A65Cycling Power Feature	\#
    2A66Cycling Power Control Point	2A67Location and Speed Characteristic	2A68Navigation	2A69Position Quality	\#
    2A6ALN Feature	2A6BLN Control Point	2A6CElevation	2A6DPressure	2A6ETemperature	2A6FHumidity	2A70True Wind Speed	\#
    2A71True Wind Direction	2A72Apparent Wind Speed	2A73Apparent Wind Direction	2A74Gust Factor	2A75Pollen Concentration	\#
    2A76UV Index	2A77Irradiance	2A78Rainfall	2A79Wind Chill	2A7AHeat Index	2A7BDew Point	2A7DDescriptor Value Changed	\#
    2A7EAerobic Heart Rate Lower Limit	2A7FAerobic Threshold	2A80Age	2A81Anaerobic Heart Rate Lower Limit	\#
    2A82Anaerobic Heart Rate Upper Limit	2A83Anaerobic Threshold	2A84Aerobic Heart Rate Upper Limit	2A85Date of Birth	\#
    2A86Date of Threshold Assessment	2A87Email Address	2A88Fat Burn Heart Rate Lower Limit	\#
    2A89Fat Burn Heart Rate Upper Limit	2A8AFirst Name	2A8BFive Zone Heart Rate Limits	2A8CGender	2A8DHeart Rate Max	\#
    2A8EHeight	2A8FHip Circumference	2A90Last Name	2A91Maximum Recommended Heart Rate	2A92Resting Heart Rate	\#
    2A93Sport Type for Aerobic and Anaerobic Thresholds	2A94Three Zone Heart Rate Limits	2A95Two Zone Heart Rate Limit	\#
    2A96VO2 Max	2A97Waist Circumference	2A98Weight	2A99Database Change Increment	2A9AUser Index	\#
    2A9BBody Composition Feature	2A9CBody Composition Measurement	2A9DWeight Measurement	2A9EWeight Scale Feature	\#
    2A9FUser Control Point	2AA0Magnetic Flux Density - 2D	2AA1Magnetic Flux Density - 3D	2AA2Language	\#
    2AA3Barometric Pressure Trend	2AA4Bond Management Control Point	2AA5Bond Management Features	\#
    2AA6Central Address Resolution	2AA7CGM Measurement	2AA8CGM Feature	2AA9CGM Status	2AAACGM Session Start Time	\#
    2AABCGM Session Run Time	2AACCGM Specific Ops Control Point	2AADIndoor Positioning Configuration	2AAELatitude	\#
    2AAFLongitude	2AB0Local North Coordinate	2AB1Local East Coordinate	2AB2Floor Number	2AB3Altitude	2AB4Uncertainty	\#
    2AB5Location Name	2AB6URI	2AB7HTTP Headers	2AB8HTTP Status Code	2AB9HTTP Entity Body	2ABAHTTP Control Point	\#
    2ABBHTTPS Security	2ABCTDS Control Point	2ABDOTS Feature	2ABEObject Name	2ABFObject Type	2AC0Object Size	\#
    2AC1Object First-Created	2AC2Object Last-Modified	2AC3Object ID	2AC4Object Properties	2AC5Object Action Control Point	\#
    2AC6Object List Control Point	2AC7Object List Filter	2AC8Object Changed	2AC9Resolvable Private Address Only	\#
    2ACCFitness Machine Feature	2ACDTreadmill Data	2ACECross Trainer Data	2ACFStep Climber Data	2AD0Stair Climber Data	\#
    2AD1Rower Data	2AD2Indoor Bike Data	2AD3Training Status	2AD4Supported Speed Range	2AD5Supported Inclination Range	\#
    2AD6Supported Resistance Level Range	2AD7Supported Heart Rate Range	2AD8Supported Power Range	\#
    2AD9Fitness Machine Control Point	2ADAFitness Machine Status	2ADBMesh Provisioning Data In	\#
    2ADCMesh Provisioning Data Out	2ADDMesh Proxy Data In	2ADEMesh Proxy Data Out	2AE0Average Current	2AE1Average Voltage	\#
    2AE2Boolean	2AE3Chromatic Distance From Planckian	2AE4Chromaticity Coordinates	2AE5Chromaticity In CCT And Duv Values	\#
    2AE6Chromaticity Tolerance	2AE7CIE 13.3-1995 Color Rendering Index	2AE8Coefficient	2AE9Correlated Color Temperature	\#
    2AEACount 16	2AEBCount 24	2AECCountry Code	2AEDDate UTC	2AEEElectric Current	2AEFElectric Current Range	\#
    2AF0Electric Current Specification	2AF1Electric Current Statistics	2AF2Energy	2AF3Energy In A Period Of Day	\#
    2AF4Event Statistics	2AF5Fixed String 16	2AF6Fixed String 24	2AF7Fixed String 36	2AF8Fixed String 8	2AF9Generic Level	\#
    2AFAGlobal Trade Item Number	2AFBIlluminance	2AFCLuminous Efficacy	2AFDLuminous Energy	2AFELuminous Exposure	\#
    2AFFLuminous Flux	2B00Luminous Flux Range	2B01Luminous Intensity	2B02B02 Mass Flow	2B03Perceived Lightness	\#
    2B04Percentage 8	2B05Power	2B06Power Specification	2B07Relative Runtime In A Current Range	\#
    2B08Relative Runtime In A Generic Level Range	2B09Relative Value In A Voltage Range	\#
    2B0ARelative Value In An Illuminance Range	2B0BRelative Value In A Period Of Day	\#
    2B0CRelative Value In A Temperature Range	2B0DTemperature 8	2B0ETemperature 8 In A Period Of Day	\#
    2B0FTemperature 8 Statistics	2B10Temperature Range	2B11Temperature Statistics	2B12Time Decihour 8	\#
    2B13Time Exponential 8	2B14Time Hour 24	2B15Time Millisecond 24	2B16Time Second 16	2B17Time Second 8	2B18Voltage	\#
    2B19Voltage Specification	2B1AVoltage Statistics	2B1BVolume Flow	2B1CChromaticity Coordinate	2B1DRC Feature	\#
    2B1ERC Settings	2B1FReconnection Configuration Control Point	2B20IDD Status Changed	2B21IDD Status	\#
    2B22IDD Annunciation Status	2B23IDD Features	2B24IDD Status Reader Control Point	2B25IDD Command Control Point	\#
    2B26IDD Command Data	2B27IDD Record Access Control Point	2B28IDD History Data	2B29Client Supported Features	\#
    2B2ADatabase Hash	2B2BBSS Control Point	2B2CBSS Response	2B2DEmergency ID	2B2EEmergency Text	\#
    2B34Enhanced Blood Pressure Measurement	2B35Enhanced Intermediate Cuff Pressure	2B36Blood Pressure Record	\#
    2B38BR-EDR Handover Data	2B39Bluetooth SIG Data	2B3AServer Supported Features	2B3BPhysical Activity Monitor Features	\#
    2B3CGeneral Activity Instantaneous Data	2B3DGeneral Activity Summary Data	\#
    2B3ECardioRespiratory Activity Instantaneous Data	2B3FCardioRespiratory Activity Summary Data	\#
    2B40Step Counter Activity Summary Data	2B41Sleep Activity Instantaneous Data	2B42Sleep Activity Summary Data	\#
    2B43Physical Activity Monitor Control Point	2B44Activity Current Session	2B45Physical Activity Session Descriptor	\#
    2B46Preferred Units	2B47High Resolution Height	2B48Middle Name	2B49Stride Length	2B4AHandedness	\#
    2B4BDevice Wearing Position	2B4CFour Zone Heart Rate Limits	2B4DHigh Intensity Exercise Threshold	2B4EActivity Goal	\#
    2B4FSedentary Interval Notification	2B50Caloric Intake	2B51TMAP Role	2B77Audio Input State	2B78Gain Settings Attribute	\#
    2B79Audio Input Type	2B7AAudio Input Status	2B7BAudio Input Control Point	2B7CAudio Input Description	2B7DVolume State	\#
    2B7EVolume Control Point	2B7FVolume Flags	2B80Volume Offset State	2B81Audio Location	2B82Volume Offset Control Point	\#
    2B83Audio Output Description	2B84Set Identity Resolving Key	2B85Coordinated Set Size	2B86Set Member Lock	\#
    2B87Set Member Rank	2B8EDevice Time Feature	2B8FDevice Time Parameters	2B90Device Time	2B91Device Time Control Point	\#
    2B92Time Change Log Data	2B93Media Player Name	2B94Media Player Icon Object ID	2B95Media Player Icon URL	\#
    2B96Track Changed	2B97Track Title	2B98Track Duration	2B99Track Position	2B9APlayback Speed	2B9BSeeking Speed	\#
    2B9CCurrent Track Segments Object ID	2B9DCurrent Track Object ID	2B9ENext Track Object ID	2B9FParent Group Object ID	\#
    2BA0Current Group Object ID	2BA1Playing Order	2BA2Playing Orders Supported	2BA3Media State	2BA4Media Control Point	\#
    2BA5Media Control Point Opcodes Supported	2BA6Search Results Object ID	2BA7Search Control Point	\#
    2BA9Media Player Icon Object Type	2BAATrack Segments Object Type	2BABTrack Object Type	2BACGroup Object Type	\#
    2BADConstant Tone Extension Enable	2BAEAdvertising Constant Tone Extension Minimum Length	\#
    2BAFAdvertising Constant Tone Extension Minimum Transmit Count	\#
    2BB0Advertising Constant Tone Extension Transmit Duration	2BB1Advertising Constant Tone Extension Interval	\#
    2BB2Advertising Constant Tone Extension PHY	2BB3Bearer Provider Name	2BB4Bearer UCI	2BB5Bearer Technology	\#
    2BB6Bearer URI Schemes Supported List	2BB7Bearer Signal Strength	2BB8Bearer Signal Strength Reporting Interval	\#
    2BB9Bearer List Current Calls	2BBAContent Control ID	2BBBStatus Flags	2BBCIncoming Call Target Bearer URI	\#
    2BBDCall State	2BBECall Control Point	2BBFCall Control Point Optional Opcodes	2BC0Termination Reason	2BC1Incoming Call	\#
    2BC2Call Friendly Name	2BC3Mute	2BC4Sink ASE	2BC5Source ASE	2BC6ASE Control Point	\#
    2BC7Broadcast Audio Scan Control Point	2BC8Broadcast Receive State	2BC9Sink PAC	2BCASink Audio Locations	2BCBSource PAC	\#
    2BCCSource Audio Locations	2BCDAvailable Audio Contexts	2BCESupported Audio Contexts	2BCFAmmonia Concentration	\#
    2BD0Carbon Monoxide Concentration	2BD1Methane Concentration	2BD2Nitrogen Dioxide Concentration	\#
    2BD3Non-Methane Volatile Organic Compounds Concentration	2BD4Ozone Concentration	\#
    2BD5Particulate Matter - PM1 Concentration	2BD6Particulate Matter - PM2.5 Concentration	\#
    2BD7Particulate Matter - PM10 Concentration	2BD8Sulfur Dioxide Concentration	2BD9Sulfur Hexafluoride Concentration	\#
    2BDAHearing Aid Features	2BDBHearing Aid Preset Control Point	2BDCActive Preset Index	2BE9Battery Critical Status	\#
    2BEABattery Health Status	2BEBBattery Health Information	2BECBattery Information	2BEDBattery Level Status	\#
    2BEEBattery Time Status	2BEFEstimated Service Date	2BF0Battery Energy Status	2BF5LE GATT Security Levels	2C00GMAP Role	\#
    2C01UGG Features	2C02UGT Features	2C03BGS Features	2C04BGR Features	2C1ACoordinated Set Name	FC75Xiaomi Inc.	\#
    FC76Weber-Stephen Products LLC	FC77SING SUN TECHNOLOGY (INTERNATIONAL) LIMITED	FC78DHL	FC79LG Electronics Inc.	\#
    FC7AOutshiny India Private Limited	FC7BTesto SE & Co. KGaA	FC7CMotorola Mobility, LLC	FC7DMML US, Inc	\#
    FC7EHarman International	FC7FSouthco	FC80TELE System Communications Pte. Ltd.	FC81Axon Enterprise, Inc.	FC82Zwift, Inc.	\#
    FC83iHealth Labs, Inc.	FC84NINGBO FOTILE KITCHENWARE CO., LTD.	FC85Zhejiang Huanfu Technology Co., LTD	\#
    FC86Samsara Networks, Inc	FC87Samsara Networks, Inc	FC88CCC del Uruguay	FC89Intel Corporation	FC8AIntel Corporation	\#
    FC8BKaspersky Lab Middle East FZ-LLC	FC8CSES-Imagotag	FC8DCaire Inc.	FC8EBlue Iris Labs, Inc.	FC8FBose Corporation	\#
    FC90Wiliot LTD.	FC91Samsung Electronics Co., Ltd.	FC92Furuno Electric Co., Ltd.	FC93Komatsu Ltd.	FC94Apple Inc.	\#
    FC95Hippo Camp Software Ltd.	FC96LEGO System A/S	FC97Japan Display Inc.	FC98Ruuvi Innovations Ltd.	FC99Badger Meter	\#
    FC9APlockat Solutions AB	FC9BMerry Electronics (S) Pte Ltd	FC9CBinary Power, Inc.	FC9DLenovo (Singapore) Pte Ltd.	\#
    FC9EDell Computer Corporation	FC9FDelta Development Team, Inc	FCA0Apple Inc.	FCA1PF SCHWEISSTECHNOLOGIE GMBH	\#
    FCA2Meizu Technology Co., Ltd.	FCA3Gunnebo Aktiebolag	FCA4HP Inc.	FCA5HAYWARD INDUSTRIES, INC.	FCA6Hubble Network Inc.	\#
    FCA7Hubble Network Inc.	FCA8Medtronic Inc.	FCA9Medtronic Inc.	FCAASpintly, Inc.	FCABIRISS INC.	FCACIRISS INC.	\#
    FCADBeijing 99help Safety Technology Co., Ltd	FCAEImagine Marketing Limited	FCAFAltoBeam Inc.	FCB0Ford Motor Company	\#
    FCB1Google LLC	FCB2Apple Inc.	FCB3SWEEN	FCB4OMRON HEALTHCARE Co., Ltd.	FCB5OMRON HEALTHCARE Co., Ltd.	\#
    FCB6OMRON HEALTHCARE Co., Ltd.	FCB7T-Mobile USA	FCB8Ribbiot, INC.	FCB9Lumi United Technology Co., Ltd	FCBABlueID GmbH	\#
    FCBBSharkNinja Operating LLC	FCBCDrowsy Digital, Inc.	FCBDToshiba Corporation	FCBEMusen Connect, Inc.	\#
    FCBFASSA ABLOY Opening Solutions Sweden AB	FCC0Xiaomi Inc.	FCC1TIMECODE SYSTEMS LIMITED	FCC2Qualcomm Technologies, Inc.	\#
    FCC3HP Inc.	FCC4OMRON(DALIAN) CO,.LTD.	FCC5OMRON(DALIAN) CO,.LTD.	FCC6Wiliot LTD.	FCC7PB INC.	FCC8Allthenticate, Inc.	\#
    FCC9SkyHawke Technologies	FCCACosmed s.r.l.	FCCBTOTO LTD.	FCCCWi-Fi Easy Connect Specification	\#
    FCCDZound Industries International AB	FCCELuna Health, Inc.	FCCFGoogle LLC	FCD0Laerdal Medical AS	\#
    FCD1Shenzhen Benwei Media Co.,Ltd.	FCD2Allterco Robotics ltd	FCD3Fisher & Paykel Healthcare	FCD4OMRON HEALTHCARE	\#
    FCD5Nortek Security & Control	FCD6SWISSINNO SOLUTIONS AG	FCD7PowerPal Pty Ltd	FCD8Appex Factory S.L.	FCD9Huso, INC	\#
    FCDADraeger	FCDBaconno GmbH	FCDCAmazon.com Services, LLC	FCDDMobilaris AB	FCDEARCTOP, INC.	FCDFNIO USA, Inc.	\#
    FCE0Akciju sabiedriba "SAF TEHNIKA"	FCE1Sony Group Corporation	FCE2Baracoda Daily Healthtech	\#
    FCE3Smith & Nephew Medical Limited	FCE4Samsara Networks, Inc	FCE5Samsara Networks, Inc	FCE6Guard RFID Solutions Inc.	\#
    FCE7TKH Security B.V.	FCE8ITT Industries	FCE9MindRhythm, Inc.	FCEAChess Wise B.V.	FCEBAvi-On	FCECGriffwerk GmbH	\#
    FCEDWorkaround Gmbh	FCEEVelentium, LLC	FCEFDivesoft s.r.o.	FCF0Security Enhancement Systems, LLC	FCF1Google LLC	\#
    FCF2Bitwards Oy	FCF3Armatura LLC	FCF4Allegion	FCF5Trident Communication Technology, LLC	FCF6The Linux Foundation	\#
    FCF7Honor Device Co., Ltd.	FCF8Honor Device Co., Ltd.	FCF9Leupold & Stevens, Inc.	FCFALeupold & Stevens, Inc.	\#
    FCFBShenzhen Benwei Media Co., Ltd.	FCFCBarrot Technology Co.,Ltd.	FCFDBarrot Technology Co.,Ltd.	\#
    FCFESonova Consumer Hearing GmbH	FCFF701x	FD00FUTEK Advanced Sensor Technology, Inc.	FD01Sanvita Medical Corporation	\#
    FD02LEGO System A/S	FD03Quuppa Oy	FD04Shure Inc.	FD05Qualcomm Technologies, Inc.	FD06RACE-AI LLC	FD07Swedlock AB	\#
    FD08Bull Group Incorporated Company	FD09Cousins and Sears LLC	FD0ALuminostics, Inc.	FD0BLuminostics, Inc.	\#
    FD0COSM HK Limited	FD0DBlecon Advertising Service	FD0EHerdDogg, Inc	FD0FAEON MOTOR CO.,LTD.	FD10AEON MOTOR CO.,LTD.	\#
    FD11AEON MOTOR CO.,LTD.	FD12AEON MOTOR CO.,LTD.	FD13BRG Sports, Inc.	FD14BRG Sports, Inc.	FD15Panasonic Corporation	\#
    FD16Sensitech, Inc.	FD17LEGIC Identsystems AG	FD18LEGIC Identsystems AG	FD19Smith & Nephew Medical Limited	FD1ACSIRO	\#
    FD1BHelios Sports, Inc.	FD1CBrady Worldwide Inc.	FD1DSamsung Electronics Co., Ltd	FD1EPlume Design Inc.	FD1F3M	\#
    FD20GN Hearing A/S	FD21Huawei Technologies Co., Ltd.	FD22Huawei Technologies Co., Ltd.	\#
    FD23DOM Sicherheitstechnik GmbH & Co. KG	FD24GD Midea Air-Conditioning Equipment Co., Ltd.	\#
    FD25GD Midea Air-Conditioning Equipment Co., Ltd.	FD26Novo Nordisk A/S	FD27Integrated Illumination Systems, Inc.	\#
    FD28Julius Blum GmbH	FD29Asahi Kasei Corporation	FD2ASony Corporation	FD2BThe Access Technologies	\#
    FD2CThe Access Technologies	FD2DXiaomi Inc.	FD2EBitstrata Systems Inc.	FD2FBitstrata Systems Inc.	\#
    FD30Sesam Solutions BV	FD31LG Electronics Inc.	FD32Gemalto Holding BV	FD33DashLogic, Inc.	FD34Aerosens LLC.	\#
    FD35Transsion Holdings Limited	FD36Google LLC	FD37TireCheck GmbH	FD38Danfoss A/S	FD39PREDIKTAS	FD3AVerkada Inc.	\#
    FD3BVerkada Inc.	FD3CRedline Communications Inc.	FD3DWoan Technology (Shenzhen) Co., Ltd.	FD3EPure Watercraft, inc.	\#
    FD3FCognosos, Inc	FD40Beflex Inc.	FD41Amazon Lab126	FD42Globe (Jiangsu) Co.,Ltd	FD43Apple Inc.	FD44Apple Inc.	\#
    FD45GB Solution co.,Ltd	FD46Lemco IKE	FD47Liberty Global Inc.	FD48Geberit International AG	FD49Panasonic Corporation	\#
    FD4ASigma Elektro GmbH	FD4BSamsung Electronics Co., Ltd.	FD4CAdolf Wuerth GmbH & Co KG	FD4D70mai Co.,Ltd.	\#
    FD4E70mai Co.,Ltd.	FD4FSONITOR TECHNOLOGIES AS	FD50Hangzhou Tuya Information Technology Co., Ltd	\#
    FD51UTC Fire and Security	FD52UTC Fire and Security	FD53PCI Private Limited	FD54Qingdao Haier Technology Co., Ltd.	\#
    FD55Braveheart Wireless, Inc.	FD56Resmed Ltd	FD57Volvo Car Corporation	FD58Volvo Car Corporation	\#
    FD59Samsung Electronics Co., Ltd.	FD5ASamsung Electronics Co., Ltd.	FD5BV2SOFT INC.	FD5CReact Mobile	\#
    FD5Dmaxon motor ltd.	FD5ETapkey GmbH	FD5FMeta Platforms Technologies, LLC	FD60Sercomm Corporation	FD61Arendi AG	\#
    FD62Google LLC	FD63Google LLC	FD64INRIA	FD65Razer Inc.	FD66Zebra Technologies Corporation	FD67Montblanc Simplo GmbH	\#
    FD68Ubique Innovation AG	FD69Samsung Electronics Co., Ltd	FD6AEmerson	FD6Brapitag GmbH	\#
    FD6CSamsung Electronics Co., Ltd.	FD6DSigma Elektro GmbH	FD6EPolidea sp. z o.o.	FD6FExposure Notification Service	\#
    FD70GuangDong Oppo Mobile Telecommunications Corp., Ltd	FD71GN Hearing A/S	FD72Logitech International SA	\#
    FD73BRControls Products BV	FD74BRControls Products BV	FD75Insulet Corporation	FD76Insulet Corporation	FD77Withings	\#
    FD78Withings	FD79Withings	FD7AWithings	FD7BWYZE LABS, INC.	FD7CToshiba Information Systems(Japan) Corporation	\#
    FD7DCenter for Advanced Research Wernher Von Braun	FD7ESamsung Electronics Co., Ltd.	FD7FHusqvarna AB	\#
    FD80Phindex Technologies, Inc	FD81CANDY HOUSE, Inc.	FD82Sony Corporation	FD83iNFORM Technology GmbH	FD84Tile, Inc.	\#
    FD85Husqvarna AB	FD86Abbott	FD87Google LLC	FD88Urbanminded LTD	FD89Urbanminded LTD	FD8ASignify Netherlands B.V.	\#
    FD8BJigowatts Inc.	FD8CGoogle LLC	FD8Dquip NYC Inc.	FD8EMotorola Solutions	FD8FMatrix ComSec Pvt. Ltd.	\#
    FD90Guangzhou SuperSound Information Technology Co.,Ltd	FD91Groove X, Inc.	\#
    FD92Qualcomm Technologies International, Ltd. (QTIL)	FD93Bayerische Motoren Werke AG	FD94Hewlett Packard Enterprise	\#
    FD95Rigado	FD96Google LLC	FD97June Life, Inc.	FD98Disney Worldwide Services, Inc.	FD99ABB Oy	\#
    FD9AHuawei Technologies Co., Ltd.	FD9BHuawei Technologies Co., Ltd.	FD9CHuawei Technologies Co., Ltd.	\#
    FD9DGastec Corporation	FD9EThe Coca-Cola Company	FD9FVitalTech Affiliates LLC	FDA0Secugen Corporation	FDA1Groove X, Inc	\#
    FDA2Groove X, Inc	FDA3Inseego Corp.	FDA4Inseego Corp.	FDA5Neurostim OAB, Inc.	\#
    FDA6WWZN Information Technology Company Limited	FDA7WWZN Information Technology Company Limited	FDA8PSA Peugeot Citroën	\#
    FDA9Rhombus Systems, Inc.	FDAAXiaomi Inc.	FDABXiaomi Inc.	FDACTentacle Sync GmbH	FDADHouwa System Design, k.k.	\#
    FDAEHouwa System Design, k.k.	FDAFWiliot LTD	FDB0Oura Health Ltd	FDB1Oura Health Ltd	FDB2Portable Multimedia Ltd	\#
    FDB3Audiodo AB	FDB4HP Inc	FDB5ECSG	FDB6GWA Hygiene GmbH	FDB7LivaNova USA Inc.	FDB8LivaNova USA Inc.	\#
    FDB9Comcast Cable Corporation	FDBAComcast Cable Corporation	FDBBProfoto	FDBCEmerson	FDBDClover Network, Inc.	\#
    FDBECalifornia Things Inc.	FDBFCalifornia Things Inc.	FDC0Hunter Douglas	FDC1Hunter Douglas	\#
    FDC2Baidu Online Network Technology (Beijing) Co., Ltd	FDC3Baidu Online Network Technology (Beijing) Co., Ltd	\#
    FDC4Simavita (Aust) Pty Ltd	FDC5Automatic Labs	FDC6Eli Lilly and Company	FDC7Eli Lilly and Company	FDC8Hach - Danaher	\#
    FDC9Busch-Jaeger Elektro GmbH	FDCAFortin Electronic Systems	FDCBMeggitt SA	FDCCShoof Technologies	\#
    FDCDQingping Technology (Beijing) Co., Ltd.	FDCESENNHEISER electronic GmbH & Co. KG	FDCFNalu Medical, Inc	\#
    FDD0Huawei Technologies Co., Ltd	FDD1Huawei Technologies Co., Ltd	FDD2Bose Corporation	\#
    FDD3FUBA Automotive Electronics GmbH	FDD4LX Solutions Pty Limited	FDD5Brompton Bicycle Ltd	FDD6Ministry of Supply	\#
    FDD7Emerson	FDD8Jiangsu Teranovo Tech Co., Ltd.	FDD9Jiangsu Teranovo Tech Co., Ltd.	FDDAMHCS	\#
    FDDBSamsung Electronics Co., Ltd.	FDDC4iiii Innovations Inc.	FDDDArch Systems Inc	FDDENoodle Technology Inc.	\#
    FDDFHarman International	FDE0John Deere	FDE1Fortin Electronic Systems	FDE2Google LLC	FDE3Abbott Diabetes Care	\#
    FDE4JUUL Labs, Inc.	FDE5SMK Corporation	FDE6Intelletto Technologies Inc	FDE7SECOM Co., LTD	FDE8Robert Bosch GmbH	\#
    FDE9Spacesaver Corporation	FDEASeeScan, Inc	FDEBSyntronix Corporation	FDECMannkind Corporation	FDEDPole Star	\#
    FDEEHuawei Technologies Co., Ltd.	FDEFART AND PROGRAM, INC.	FDF0Google LLC	FDF1LAMPLIGHT Co.,Ltd	\#
    FDF2AMICCOM Electronics Corporation	FDF3Amersports	FDF4O. E. M. Controls, Inc.	FDF5Milwaukee Electric Tools	\#
    FDF6AIAIAI ApS	FDF7HP Inc.	FDF8Onvocal	FDF9INIA	FDFATandem Diabetes Care	FDFBTandem Diabetes Care	FDFCOptrel AG	\#
    FDFDRecursiveSoft Inc.	FDFEADHERIUM(NZ) LIMITED	FDFFOSRAM GmbH	FE00Amazon.com Services, Inc.	\#
    FE01Duracell U.S. Operations Inc.	FE02Robert Bosch GmbH	FE03Amazon.com Services, Inc.	FE04Motorola Solutions, Inc.	\#
    FE05CORE Transport Technologies NZ Limited	FE06Qualcomm Technologies, Inc.	FE07Sonos, Inc.	FE08Microsoft	\#
    FE09Pillsy, Inc.	FE0Aruwido austria gmbh	FE0Bruwido austria gmbh	FE0CProcter & Gamble	FE0DProcter & Gamble	\#
    FE0ESetec Pty Ltd	FE0FSignify Netherlands B.V. (formerly Philips Lighting) Service	FE10LAPIS Technology Co., Ltd.	\#
    FE11GMC-I Messtechnik GmbH	FE12M-Way Solutions GmbH	FE13Apple Inc.	FE14Flextronics International USA Inc.	\#
    FE15Amazon.com Services, Inc..	FE16Footmarks, Inc.	FE17Telit Wireless Solutions GmbH	FE18Runtime, Inc.	FE19Google LLC	\#
    FE1ATyto Life LLC	FE1BTyto Life LLC	FE1CNetMedia, Inc.	FE1DIlluminati Instrument Corporation	FE1ELAMPLIGHT Co., Ltd.	\#
    FE1FGarmin International, Inc.	FE20Emerson	FE21Bose Corporation	FE22Zoll Medical Corporation	\#
    FE23Zoll Medical Corporation	FE24August Home Inc	FE25Apple, Inc.	FE26Google LLC	FE27Google LLC	FE28Ayla Networks	\#
    FE29Gibson Innovations	FE2ADaisyWorks, Inc.	FE2BITT Industries	FE2CFast Pair Service	FE2DLAMPLIGHT Co., Ltd.	\#
    FE2EERi,Inc.	FE2FCRESCO Wireless, Inc	FE30Volkswagen AG	FE31Volkswagen AG	FE32Pro-Mark, Inc.	FE33CHIPOLO d.o.o.	\#
    FE34SmallLoop LLC	FE35HUAWEI Technologies Co., Ltd	FE36HUAWEI Technologies Co., Ltd	FE37Spaceek LTD	FE38Spaceek LTD	\#
    FE39TTS Tooltechnic Systems AG & Co. KG	FE3ATTS Tooltechnic Systems AG & Co. KG	FE3BDolby Laboratories	FE3Calibaba	\#
    FE3DBD Medical	FE3EBD Medical	FE3FFriday Labs Limited	FE40Inugo Systems Limited	FE41Inugo Systems Limited	FE42Nets A/S	\#
    FE43Andreas Stihl AG & Co. KG	FE44SK Telecom	FE45Snapchat Inc	FE46B&O Play A/S	FE47General Motors	FE48General Motors	\#
    FE49SenionLab AB	FE4AOMRON HEALTHCARE Co., Ltd.	FE4BSignify Netherlands B.V. (formerly Philips Lighting B.V.)	\#
    FE4CVolkswagen AG	FE4DCasambi Technologies Oy	FE4ENTT docomo	FE4FMolekule, Inc.	FE50Google LLC	FE51SRAM	\#
    FE52SetPoint Medical	FE533M	FE54Motiv, Inc.	FE55Google LLC	FE56Google LLC	FE57Dotted Labs	FE58Nordic Semiconductor ASA	\#
    FE59Secure DFU Service	FE5ACronologics Corporation	FE5BGT-tronics HK Ltd	FE5Cmillion hunters GmbH	FE5DGrundfos A/S	\#
    FE5EPlastc Corporation	FE5FEyefi, Inc.	FE60Lierda Science & Technology Group Co., Ltd.	FE61Logitech International SA	\#
    FE62Indagem Tech LLC	FE63Connected Yard, Inc.	FE64Siemens AG	FE65CHIPOLO d.o.o.	FE66Intel Corporation	\#
    FE67Lab Sensor Solutions	FE68Capsle Technologies Inc.	FE69Capsle Technologies Inc.	\#
    FE6AKontakt Micro-Location Sp. z o.o.	FE6BTASER International, Inc.	FE6CTASER International, Inc.	\#
    FE6DThe University of Tokyo	FE6EThe University of Tokyo	FE6FLINE Corporation	\#
    FE70Beijing Jingdong Century Trading Co., Ltd.	FE71Plume Design Inc	FE72Abbott (formerly St. Jude Medical, Inc.)	\#
    FE73Abbott (formerly St. Jude Medical, Inc.)	FE74unwire	FE75TangoMe	FE76TangoMe	FE77Hewlett-Packard Company	\#
    FE78Hewlett-Packard Company	FE79Zebra Technologies	FE7ABragi GmbH	FE7BOrion Labs, Inc.	\#
    FE7CTelit Wireless Solutions (Formerly Stollmann E+V GmbH)	FE7DAterica Health Inc.	FE7EAwear Solutions Ltd	\#
    FE7FDoppler Lab	FE80Doppler Lab	FE81Medtronic Inc.	FE82Medtronic Inc.	FE83Blue Bite	FE84RF Digital Corp	\#
    FE85RF Digital Corp	FE86HUAWEI Technologies Co., Ltd	\#
    FE87Qingdao Yeelink Information Technology Co., Ltd. ( 青岛亿联客信息技术有限公司 )	FE88SALTO SYSTEMS S.L.	FE89B&O Play A/S	\#
    FE8AApple, Inc.	FE8BApple, Inc.	FE8CTRON Forum	FE8DInteraxon Inc.	FE8EARM Ltd	FE8FCSR	FE90JUMA	\#
    FE91Shanghai Imilab Technology Co.,Ltd	FE92Jarden Safety & Security	FE93OttoQ In	FE94OttoQ In	FE95Xiaomi Inc.	\#
    FE96Tesla Motors Inc.	FE97Tesla Motors Inc.	FE98Currant Inc	FE99Currant Inc	FE9AEstimote	FE9BSamsara Networks, Inc	\#
    FE9CGSI Laboratories, Inc.	FE9DMobiquity Networks Inc	FE9EDialog Semiconductor B.V.	FE9FGoogle LLC	FEA0Google LLC	\#
    FEA1Intrepid Control Systems, Inc.	FEA2Intrepid Control Systems, Inc.	FEA3ITT Industries	FEA4Paxton Access Ltd	\#
    FEA5GoPro, Inc.	FEA6GoPro, Inc.	FEA7UTC Fire and Security	FEA8Savant Systems LLC	FEA9Savant Systems LLC	FEAAEddystone	\#
    FEABNokia	FEACNokia	FEADNokia	FEAENokia	FEAFNest Labs Inc	FEB0Nest Labs Inc	FEB1Electronics Tomorrow Limited	\#
    FEB2Microsoft Corporation	FEB3Taobao	FEB4WiSilica Inc.	FEB5WiSilica Inc.	FEB6Vencer Co., Ltd	FEB7Meta Platforms, Inc.	\#
    FEB8Meta Platforms, Inc.	FEB9LG Electronics	FEBATencent Holdings Limited	FEBBFile Transfer Service by Adafruit	\#
    FEBCDexcom Inc	FEBDClover Network, Inc	FEBEBose Corporation	FEBFNod, Inc.	FEC0KDDI Corporation	FEC1KDDI Corporation	\#
    FEC2Blue Spark Technologies, Inc.	FEC3360fly, Inc.	FEC4PLUS Location Systems	FEC5Realtek Semiconductor Corp.	\#
    FEC6Kocomojo, LLC	FEC7Apple, Inc.	FEC8Apple, Inc.	FEC9Apple, Inc.	FECAApple, Inc.	FECBApple, Inc.	FECCApple, Inc.	\#
    FECDApple, Inc.	FECEApple, Inc.	FECFApple, Inc.	FED0Apple, Inc.	FED1Apple, Inc.	FED2Apple, Inc.	FED3Apple, Inc.	\#
    FED4Apple, Inc.	FED5Plantronics Inc.	FED6Broadcom	FED7Broadcom	FED8Google LLC	FED9Pebble Technology Corporation	\#
    FEDAISSC Technologies Corp.	FEDBPerka, Inc.	FEDCJawbone	FEDDJawbone	FEDECoin, Inc.	FEDFDesign SHIFT	\#
    FEE0Anhui Huami Information Technology Co., Ltd.	FEE1Anhui Huami Information Technology Co., Ltd.	FEE2Anki, Inc.	\#
    FEE3Anki, Inc.	FEE4Nordic Semiconductor ASA	FEE5Nordic Semiconductor ASA	FEE6Silvair, Inc.	\#
    FEE7Tencent Holdings Limited.	FEE8Quintic Corp.	FEE9Quintic Corp.	FEEASwirl Networks, Inc.	FEEBSwirl Networks, Inc.	\#
    FEECTile, Inc.	FEEDTile, Inc.	FEEEPolar Electro Oy	FEEFPolar Electro Oy	FEF0Intel	FEF1CSR	FEF2CSR	FEF3Google LLC	\#
    FEF4Google LLC	FEF5Dialog Semiconductor GmbH	FEF6Wicentric, Inc.	FEF7Aplix Corporation	FEF8Aplix Corporation	\#
    FEF9PayPal, Inc.	FEFAPayPal, Inc.	FEFBTelit Wireless Solutions (Formerly Stollmann E+V GmbH)	FEFCGimbal, Inc.	\#
    FEFDGimbal, Inc.	FEFEGN Hearing A/S	FEFFGN Netcom	FFEFWi-Fi Direct Specification	FFF0Public Key Open Credential (PKOC)	\#
    FFF1ICCE Digital Key	FFF2Aliro	FFF3FiRa Consortium	FFF4FiRa Consortium	FFF5Car Connectivity Consortium, LLC	\#
    FFF6Matter Profile ID	FFF7Zigbee Direct	FFF8Mopria Alliance BLE	FFF9FIDO2 secure client-to-authenticator transport	\#
    FFFAASTM Remote ID	FFFBDirect Thread Commissioning	FFFCWireless Power Transfer (WPT)	\#
    FFFDUniversal Second Factor Authenticator	FFFEWireless Power Transfer
    """#

  /// Company identifiers: 3412.
  static let companies: StaticString = #"""
    0000Ericsson AB	0001Nokia Mobile Phones	0002Intel Corp.	0003IBM Corp.	0004Toshiba Corp.	00053Com	0006Microsoft	\#
    0007Lucent	0008Motorola	0009Infineon Technologies AG	000AQualcomm Technologies International, Ltd. (QTIL)	\#
    000BSilicon Wave	000CDigianswer A/S	000DTexas Instruments Inc.	000EParthus Technologies Inc.	000FBroadcom Corporation	\#
    0010Mitel Semiconductor	0011Widcomm, Inc.	0012Zeevo, Inc.	0013Atmel Corporation	0014Mitsubishi Electric Corporation	\#
    0015RTX A/S	0016KC Technology Inc.	0017Newlogic	0018Transilica, Inc.	0019Rohde & Schwarz GmbH & Co. KG	\#
    001ATTPCom Limited	001BSignia Technologies, Inc.	001CConexant Systems Inc.	001DQualcomm	001EInventel	001FAVM Berlin	\#
    0020BandSpeed, Inc.	0021Mansella Ltd	0022NEC Corporation	0023WavePlus Technology Co., Ltd.	0024Alcatel	0025NXP B.V.	\#
    0026C Technologies	0027Open Interface	0028R F Micro Devices	0029Hitachi Ltd	002ASymbol Technologies, Inc.	002BTenovis	\#
    002CMacronix International Co. Ltd.	002DGCT Semiconductor	002ENorwood Systems	002FMewTel Technology Inc.	\#
    0030ST Microelectronics	0031Synopsys, Inc.	0032Red-M (Communications) Ltd	0033Commil Ltd	\#
    0034Computer Access Technology Corporation (CATC)	0035Eclipse (HQ Espana) S.L.	0036Renesas Electronics Corporation	\#
    0037Mobilian Corporation	0038Syntronix Corporation	0039Integrated System Solution Corp.	\#
    003APanasonic Holdings Corporation	003BGennum Corporation	003CBlackBerry Limited	003DIPextreme, Inc.	\#
    003ESystems and Chips, Inc	003FBluetooth SIG, Inc	0040Seiko Epson Corporation	\#
    0041Integrated Silicon Solution Taiwan, Inc.	0042CONWISE Technology Corporation Ltd	0043PARROT AUTOMOTIVE SAS	\#
    0044Socket Mobile	0045Atheros Communications, Inc.	0046MediaTek, Inc.	0047Bluegiga	0048Marvell Technology Group Ltd.	\#
    00493DSP Corporation	004AAccel Semiconductor Ltd.	004BContinental Automotive Systems	004CApple, Inc.	\#
    004DStaccato Communications, Inc.	004EAvago Technologies	004FAPT Ltd.	0050SiRF Technology, Inc.	\#
    0051Tzero Technologies, Inc.	0052J&M Corporation	0053Free2move AB	00543DiJoy Corporation	0055Plantronics, Inc.	\#
    0056Sony Ericsson Mobile Communications	0057Harman International Industries, Inc.	0058Vizio, Inc.	\#
    0059Nordic Semiconductor ASA	005AEM Microelectronic-Marin SA	005BRalink Technology Corporation	\#
    005CBelkin International, Inc.	005DRealtek Semiconductor Corporation	005EStonestreet One, LLC	005FWicentric, Inc.	\#
    0060RivieraWaves S.A.S	0061RDA Microelectronics	0062Gibson Guitars	0063MiCommand Inc.	0064Band XI International, LLC	\#
    0065HP, Inc.	00669Solutions Oy	0067GN Audio A/S	0068General Motors	0069A&D Engineering, Inc.	006AMindTree Ltd.	\#
    006BPolar Electro OY	006CBeautiful Enterprise Co., Ltd.	006DBriarTek, Inc	006ESummit Data Communications, Inc.	\#
    006FSound ID	0070Monster, LLC	0071connectBlue AB	0072ShangHai Super Smart Electronics Co. Ltd.	0073Group Sense Ltd.	\#
    0074Zomm, LLC	0075Samsung Electronics Co. Ltd.	0076Creative Technology Ltd.	0077Laird Connectivity LLC	0078Nike, Inc.	\#
    0079lesswire AG	007AMStar Semiconductor, Inc.	007BHanlynn Technologies	007CA & R Cambridge	\#
    007DSeers Technology Co., Ltd.	007ESports Tracking Technologies Ltd.	007FAutonet Mobile	\#
    0080DeLorme Publishing Company, Inc.	0081WuXi Vimicro	0082DSEA A/S	0083TimeKeeping Systems, Inc.	\#
    0084Ludus Helsinki Ltd.	0085BlueRadios, Inc.	0086Equinux AG	0087Garmin International, Inc.	0088Ecotest	\#
    0089GN Hearing A/S	008AJawbone	008BTopcon Positioning Systems, LLC	008CGimbal Inc.	008DZscan Software	008EQuintic Corp	\#
    008FTelit Wireless Solutions GmbH	0090Funai Electric Co., Ltd.	0091Advanced PANMOBIL systems GmbH & Co. KG	\#
    0092ThinkOptics, Inc.	0093Universal Electronics, Inc.	0094Airoha Technology Corp.	0095NEC Lighting, Ltd.	\#
    0096ODM Technology, Inc.	0097ConnecteDevice Ltd.	0098zero1.tv GmbH	0099i.Tech Dynamic Global Distribution Ltd.	\#
    009AAlpwise	009BJiangsu Toppower Automotive Electronics Co., Ltd.	009CColorfy, Inc.	009DGeoforce Inc.	\#
    009EBose Corporation	009FSuunto Oy	00A0Kensington Computer Products Group	00A1SR-Medizinelektronik	\#
    00A2Vertu Corporation Limited	00A3Meta Watch Ltd.	00A4LINAK A/S	00A5OTL Dynamics LLC	00A6Panda Ocean Inc.	\#
    00A7Visteon Corporation	00A8ARP Devices Limited	00A9MARELLI EUROPE S.P.A.	00AACAEN RFID srl	\#
    00ABIngenieur-Systemgruppe Zahn GmbH	00ACGreen Throttle Games	00ADPeter Systemtechnik GmbH	00AEOmegawave Oy	00AFCinetix	\#
    00B0Passif Semiconductor Corp	00B1Saris Cycling Group, Inc	00B2Bekey A/S	00B3Clarinox Technologies Pty. Ltd.	\#
    00B4BDE Technology Co., Ltd.	00B5Swirl Networks	00B6Meso international	00B7TreLab Ltd	\#
    00B8Qualcomm Innovation Center, Inc. (QuIC)	00B9Johnson Controls, Inc.	00BAStarkey Hearing Technologies	\#
    00BBS-Power Electronics Limited	00BCAce Sensor Inc	00BDAplix Corporation	00BEAAMP of America	\#
    00BFStalmart Technology Limited	00C0AMICCOM Electronics Corporation	00C1Shenzhen Excelsecu Data Technology Co.,Ltd	\#
    00C2Geneq Inc.	00C3adidas AG	00C4LG Electronics	00C5Onset Computer Corporation	00C6Selfly BV	00C7Quuppa Oy.	\#
    00C8GeLo Inc	00C9Evluma	00CAMC10	00CBBinauric SE	00CCBeats Electronics	00CDMicrochip Technology Inc.	\#
    00CEEve Systems GmbH	00CFARCHOS SA	00D0Dexcom, Inc.	00D1Polar Electro Europe B.V.	00D2Dialog Semiconductor B.V.	\#
    00D3Taixingbang Technology (HK) Co,. LTD.	00D4Kawantech	00D5Austco Communication Systems	00D6Timex Group USA, Inc.	\#
    00D7Qualcomm Technologies, Inc.	00D8Qualcomm Connected Experiences, Inc.	00D9Voyetra Turtle Beach	00DAtxtr GmbH	\#
    00DBSnuza (Pty) Ltd	00DCProcter & Gamble	00DDHosiden Corporation	00DEMuzik LLC	00DFMisfit Wearables Corp	00E0Google	\#
    00E1Danlers Ltd	00E2Semilink Inc	00E3inMusic Brands, Inc	00E4L.S. Research, Inc.	00E5Eden Software Consultants Ltd.	\#
    00E6Freshtemp	00E7KS Technologies	00E8ACTS Technologies	00E9Vtrack Systems	00EAwww.vtracksystems.com	\#
    00EBServer Technology Inc.	00ECBioResearch Associates	00EDJolly Logic, LLC	00EEAbove Average Outcomes, Inc.	\#
    00EFBitsplitters GmbH	00F0PayPal, Inc.	00F1Witron Technology Limited	00F2Morse Project Inc.	00F3Kent Displays Inc.	\#
    00F4Nautilus Inc.	00F5Smartifier Oy	00F6Elcometer Limited	00F7VSN Technologies, Inc.	00F8AceUni Corp., Ltd.	\#
    00F9StickNFind	00FACrystal Alarm AB	00FBKOUKAAM a.s.	00FCDelphi Corporation	00FDValenceTech Limited	\#
    00FEStanley Black and Decker	00FFTypo Products, LLC	0100TomTom International BV	0101Fugoo, Inc.	0102Keiser Corporation	\#
    0103Bang & Olufsen A/S	0104PLUS Location Systems Pty Ltd	0105Ubiquitous Computing Technology Corporation	\#
    0106Innovative Yachtter Solutions	0107Demant A/S	0108Chicony Electronics Co., Ltd.	0109Atus BV	010ACodegate Ltd	\#
    010BERi, Inc	010CTransducers Direct, LLC	010DDENSO TEN Limited	010EAudi AG	010FHiSilicon Technologies CO., LIMITED	\#
    0110Nippon Seiki Co., Ltd.	0111Steelseries ApS	0112Visybl Inc.	0113Openbrain Technologies, Co., Ltd.	0114Xensr	\#
    0115e.solutions	011610AK Technologies	0117Wimoto Technologies Inc	0118Radius Networks, Inc.	\#
    0119Wize Technology Co., Ltd.	011AQualcomm Labs, Inc.	011BHewlett Packard Enterprise	011CBaidu	011DArendi AG	\#
    011ESkoda Auto a.s.	011FVolkswagen AG	0120Porsche AG	0121Sino Wealth Electronic Ltd.	0122AirTurn, Inc.	0123Kinsa, Inc	\#
    0124HID Global	0125SEAT es	0126Promethean Ltd.	0127Salutica Allied Solutions	0128GPSI Group Pty Ltd	\#
    0129Nimble Devices Oy	012AChangzhou Yongse Infotech Co., Ltd.	012BSportIQ	012CTEMEC Instruments B.V.	\#
    012DSony Corporation	012EASSA ABLOY	012FClarion Co. Inc.	0130Warehouse Innovations	0131Cypress Semiconductor	\#
    0132MADS Inc	0133Blue Maestro Limited	0134Resolution Products, Ltd.	0135Aireware LLC	0136Silvair, Inc.	\#
    0137Prestigio Plaza Ltd.	0138NTEO Inc.	0139Focus Systems Corporation	013ATencent Holdings Ltd.	013BAllegion	\#
    013CMurata Manufacturing Co., Ltd.	013DWirelessWERX	013ENod, Inc.	013FB&B Manufacturing Company	\#
    0140Alpine Electronics (China) Co., Ltd	0141FedEx Services	0142Grape Systems Inc.	0143Bkon Connect	0144Lintech GmbH	\#
    0145Novatel Wireless	0146Ciright	0147Mighty Cast, Inc.	0148Ambimat Electronics	0149Perytons Ltd.	014ATivoli Audio, LLC	\#
    014BMaster Lock	014CMesh-Net Ltd	014DHUIZHOU DESAY SV AUTOMOTIVE CO., LTD.	014ETangerine, Inc.	014FB&W Group Ltd.	\#
    0150Pioneer Corporation	0151OnBeep	0152Vernier Software & Technology	0153ROL Ergo	0154Pebble Technology	0155NETATMO	\#
    0156Accumulate AB	0157Anhui Huami Information Technology Co., Ltd.	0158Inmite s.r.o.	0159ChefSteps, Inc.	015Amicas AG	\#
    015BBiomedical Research Ltd.	015CPitius Tec S.L.	015DEstimote, Inc.	015EUnikey Technologies, Inc.	015FTimer Cap Co.	\#
    0160AwoX	0161yikes	0162MADSGlobalNZ Ltd.	0163PCH International	0164Qingdao Yeelink Information Technology Co., Ltd.	\#
    0165Milwaukee Electric Tools	0166MISHIK Pte Ltd	0167Ascensia Diabetes Care US Inc.	0168Spicebox LLC	0169emberlight	\#
    016AEmerson Digital Cold Chain, Inc.	016BQblinks	016CMYSPHERA	016DLifeScan Inc	016EVolantic AB	016FPodo Labs, Inc	\#
    0170Roche Diabetes Care AG	0171Amazon.com Services LLC	0172Connovate Technology Private Limited	0173Kocomojo, LLC	\#
    0174Everykey Inc.	0175Dynamic Controls	0176SentriLock	0177I-SYST inc.	0178CASIO COMPUTER CO., LTD.	\#
    0179LAPIS Semiconductor Co.,Ltd	017ATelemonitor, Inc.	017Btaskit GmbH	017CMercedes-Benz Group AG	017DBatAndCat	\#
    017EBluDotz Ltd	017FXTel Wireless ApS	0180Gigaset Communications GmbH	0181Gecko Health Innovations, Inc.	\#
    0182HOP Ubiquitous	0183Walt Disney	0184Nectar	0185bel'apps LLC	0186CORE Lighting Ltd	0187Seraphim Sense Ltd	\#
    0188Unico RBC	0189Physical Enterprises Inc.	018AAble Trend Technology Limited	018BKonica Minolta, Inc.	018CWilo SE	\#
    018DExtron Design Services	018EFitbit, Inc.	018FFireflies Systems	0190Intelletto Technologies Inc.	0191FDK CORPORATION	\#
    0192Cloudleaf, Inc	0193Maveric Automation LLC	0194Acoustic Stream Corporation	0195Zuli	0196Paxton Access Ltd	\#
    0197WiSilica Inc.	0198VENGIT Korlatolt Felelossegu Tarsasag	0199SALTO SYSTEMS S.L.	019ATRON Forum	019BCUBETECH s.r.o.	\#
    019CCokiya Incorporated	019DCVS Health	019ECeruus	019FStrainstall Ltd	01A0Channel Enterprises (HK) Ltd.	01A1FIAMM	\#
    01A2GIGALANE.CO.,LTD	01A3EROAD	01A4MSA Innovation, LLC	01A5Icon Health and Fitness	01A6Wille Engineering	\#
    01A7ENERGOUS CORPORATION	01A8Taobao	01A9Canon Inc.	01AAGeophysical Technology Inc.	01ABMeta Platforms, Inc.	\#
    01ACTrividia Health, Inc.	01ADFlightSafety International	01AEEarlens Corporation	01AFSunrise Micro Devices, Inc.	\#
    01B0Star Micronics Co., Ltd.	01B1Netizens Sp. z o.o.	01B2Nymi Inc.	01B3Nytec, Inc.	01B4Trineo Sp. z o.o.	\#
    01B5Nest Labs Inc.	01B6LM Technologies Ltd	01B7General Electric Company	01B8i+D3 S.L.	01B9HANA Micron	\#
    01BAStages Cycling LLC	01BBCochlear Bone Anchored Solutions AB	01BCSenionLab AB	01BDSyszone Co., Ltd	\#
    01BEPulsate Mobile Ltd.	01BFHong Kong HunterSun Electronic Limited	01C0pironex GmbH	01C1BRADATECH Corp.	\#
    01C2Transenergooil AG	01C3Bunch	01C4DME Microelectronics	01C5Bitcraze AB	01C6HASWARE Inc.	01C7Abiogenix Inc.	\#
    01C8Poly-Control ApS	01C9Avi-on	01CALaerdal Medical AS	01CBFetch My Pet	01CCSam Labs Ltd.	\#
    01CDChengdu Synwing Technology Ltd	01CEHOUWA SYSTEM DESIGN, k.k.	01CFBSH	01D0Primus Inter Pares Ltd	\#
    01D1August Home, Inc	01D2Gill Electronics	01D3Sky Wave Design	01D4Newlab S.r.l.	01D5ELAD srl	01D6G-wearables inc.	\#
    01D7Squadrone Systems Inc.	01D8Code Corporation	01D9Savant Systems LLC	01DALogitech International SA	\#
    01DBInnblue Consulting	01DCiParking Ltd.	01DDKoninklijke Philips N.V.	01DEMinelab Electronics Pty Limited	\#
    01DFBison Group Ltd.	01E0Widex A/S	01E1Jolla Ltd	01E2Lectronix, Inc.	01E3Caterpillar Inc	01E4Freedom Innovations	\#
    01E5Dynamic Devices Ltd	01E6Technology Solutions (UK) Ltd	01E7IPS Group Inc.	01E8STIR	01E9Sano, Inc.	\#
    01EAAdvanced Application Design, Inc.	01EBAutoMap LLC	01ECSpreadtrum Communications Shanghai Ltd	01EDCuteCircuit LTD	\#
    01EEValeo Service	01EFFullpower Technologies, Inc.	01F0KloudNation	01F1Zebra Technologies Corporation	01F2Itron, Inc.	\#
    01F3The University of Tokyo	01F4UTC Fire and Security	01F5Cool Webthings Limited	01F6DJO Global	01F7Gelliner Limited	\#
    01F8Anyka (Guangzhou) Microelectronics Technology Co, LTD	01F9Medtronic Inc.	01FAGozio Inc.	01FBForm Lifting, LLC	\#
    01FCWahoo Fitness, LLC	01FDKontakt Micro-Location Sp. z o.o.	01FERadio Systems Corporation	\#
    01FFFreescale Semiconductor, Inc.	0200Verifone Systems Pte Ltd. Taiwan Branch	0201AR Timing	0202Rigado LLC	\#
    0203Kemppi Oy	0204Tapcentive Inc.	0205Smartbotics Inc.	0206Otter Products, LLC	0207STEMP Inc.	0208LumiGeek LLC	\#
    0209InvisionHeart Inc.	020AMacnica Inc.	020BJaguar Land Rover Limited	020CCoroWare Technologies, Inc	\#
    020DSimplo Technology Co., LTD	020EOmron Healthcare Co., LTD	020FComodule GMBH	0210ikeGPS	\#
    0211Telink Semiconductor Co. Ltd	0212Interplan Co., Ltd	0213Wyler AG	0214IK Multimedia Production srl	\#
    0215Lukoton Experience Oy	0216MTI Ltd	0217Tech4home, Lda	0218Hiotech AB	0219DOTT Limited	021ABlue Speck Labs, LLC	\#
    021BCisco Systems, Inc	021CMobicomm Inc	021DEdamic	021EGoodnet, Ltd	021FLuster Leaf Products Inc	0220Manus Machina BV	\#
    0221Mobiquity Networks Inc	0222Praxis Dynamics	0223Philip Morris Products S.A.	0224Comarch SA	0225Nestlé Nespresso S.A.	\#
    0226Merlinia A/S	0227LifeBEAM Technologies	0228Twocanoes Labs, LLC	0229Muoverti Limited	022AStamer Musikanlagen GMBH	\#
    022BTesla, Inc.	022CPharynks Corporation	022DLupine	022ESiemens AG	022FHuami (Shanghai) Culture Communication CO., LTD	\#
    0230Foster Electric Company, Ltd	0231ETA SA	0232x-Senso Solutions Kft	0233Shenzhen SuLong Communication Ltd	\#
    0234FengFan (BeiJing) Technology Co, Ltd	0235Qrio Inc	0236Pitpatpet Ltd	0237MSHeli s.r.l.	0238Trakm8 Ltd	\#
    0239JIN CO, Ltd	023AAlatech Tehnology	023BBeijing CarePulse Electronic Technology Co, Ltd	023CAwarepoint	\#
    023DViCentra B.V.	023ERaven Industries	023FWaveWare Technologies Inc.	0240Argenox Technologies	0241Bragi GmbH	\#
    024216Lab Inc	0243Masimo Corp	0244Iotera Inc	0245Endress+Hauser	0246ACKme Networks, Inc.	0247FiftyThree Inc.	\#
    0248Parker Hannifin Corp	0249Transcranial Ltd	024AUwatec AG	024BOrlan LLC	024CBlue Clover Devices	\#
    024DM-Way Solutions GmbH	024EMicrotronics Engineering GmbH	024FSchneider SchreibgerÃ¤te GmbH	0250Sapphire Circuits LLC	\#
    0251Lumo Bodytech Inc.	0252UKC Technosolution	0253Xicato Inc.	0254Playbrush	0255Dai Nippon Printing Co., Ltd.	\#
    0256G24 Power Limited	0257AdBabble Local Commerce Inc.	0258Devialet SA	0259ALTYOR	\#
    025AUniversity of Applied Sciences Valais/Haute Ecole Valaisanne	025BFive Interactive, LLC dba Zendo	\#
    025CNetEase Hangzhou Network co.Ltd.	025DLexmark International Inc.	025EFluke Corporation	025FYardarm Technologies	\#
    0260SensaRx	0261SECVRE GmbH	0262Glacial Ridge Technologies	0263Identiv, Inc.	0264DDS, Inc.	0265SMK Corporation	\#
    0266Schawbel Technologies LLC	0267XMI Systems SA	0268Cerevo	0269Torrox GmbH & Co KG	026AGemalto	\#
    026BDEKA Research & Development Corp.	026CDomster Tadeusz Szydlowski	026DTechnogym SPA	026EFLEURBAEY BVBA	\#
    026FAptcode Solutions	0270LSI ADL Technology	0271Animas Corp	0272Alps Alpine Co., Ltd.	0273OCEASOFT	0274Motsai Research	\#
    0275Geotab	0276E.G.O. Elektro-Geraetebau GmbH	0277bewhere inc	0278Johnson Outdoors Inc	\#
    0279steute Schaltgerate GmbH & Co. KG	027AEkomini inc.	027BDEFA AS	027CAseptika Ltd	027DHUAWEI Technologies Co., Ltd.	\#
    027EHabitAware, LLC	027Fruwido austria gmbh	0280ITEC corporation	0281StoneL	0282Sonova AG	0283Maven Machines, Inc.	\#
    0284Synapse Electronics	0285WOWTech Canada Ltd.	0286RF Code, Inc.	0287Wally Ventures S.L.	\#
    0288Willowbank Electronics Ltd	0289SK Telecom	028AJetro AS	028BCode Gears LTD	028CNANOLINK APS	028DIF, LLC	\#
    028ERF Digital Corp	028FChurch & Dwight Co., Inc	0290Multibit Oy	0291CliniCloud Inc	0292SwiftSensors	0293Blue Bite	\#
    0294ELIAS GmbH	0295Sivantos GmbH	0296Petzl	0297storm power ltd	0298EISST Ltd	0299Inexess Technology Simma KG	\#
    029ACurrant, Inc.	029BC2 Development, Inc.	029CBlue Sky Scientific, LLC	029DALOTTAZS LABS, LLC	029EKupson spol. s r.o.	\#
    029FAreus Engineering GmbH	02A0Impossible Camera GmbH	02A1InventureTrack Systems	02A2Sera4 Ltd.	02A3Itude	\#
    02A4Pacific Lock Company	02A5Tendyron Corporation	02A6Robert Bosch GmbH	02A7Illuxtron international B.V.	\#
    02A8miSport Ltd.	02A9Chargelib	02AADoppler Lab	02ABBBPOS Limited	02ACRTB Elektronik GmbH & Co. KG	02ADRx Networks, Inc.	\#
    02AEWeatherFlow, Inc.	02AFTechnicolor USA Inc.	02B0Bestechnic(Shanghai),Ltd	02B1Raden Inc	02B2Oura Health Oy	\#
    02B3CLABER S.P.A.	02B4Hyginex, Inc.	02B5HANSHIN ELECTRIC RAILWAY CO.,LTD.	02B6Schneider Electric	\#
    02B7Oort Technologies LLC	02B8Chrono Therapeutics	02B9Rinnai Corporation	02BASwissprime Technologies AG	\#
    02BBKoha.,Co.Ltd	02BCGenevac Ltd	02BDChemtronics	02BESeguro Technology Sp. z o.o.	02BFRedbird Flight Simulations	\#
    02C0Dash Robotics	02C1LINE Corporation	02C2Guillemot Corporation	02C3Techtronic Power Tools Technology Limited	\#
    02C4Wilson Sporting Goods	02C5Lenovo (Singapore) Pte Ltd.	02C6Ayatan Sensors	02C7Electronics Tomorrow Limited	\#
    02C8OneSpan	02C9PayRange Inc.	02CAABOV Semiconductor	02CBAINA-Wireless Inc.	02CCEijkelkamp Soil & Water	\#
    02CDBMA ergonomics b.v.	02CETeva Branded Pharmaceutical Products R&D, Inc.	02CFAnima	02D03M	02D1Empatica Srl	\#
    02D2Afero, Inc.	02D3Powercast Corporation	02D4Secuyou ApS	02D5OMRON Corporation	02D6Send Solutions	\#
    02D7NIPPON SYSTEMWARE CO.,LTD.	02D8Neosfar	02D9Fliegl Agrartechnik GmbH	02DAGilvader	02DBDigi International Inc (R)	\#
    02DCDeWalch Technologies, Inc.	02DDFlint Rehabilitation Devices, LLC	02DESamsung SDS Co., Ltd.	\#
    02DFBlur Product Development	02E0University of Michigan	02E1Victron Energy BV	02E2NTT docomo	\#
    02E3Carmanah Technologies Corp.	02E4Bytestorm Ltd.	02E5Espressif Systems (Shanghai) Co., Ltd.	02E6Unwire	\#
    02E7Connected Yard, Inc.	02E8American Music Environments	02E9Sensogram Technologies, Inc.	02EAFujitsu Limited	\#
    02EBArdic Technology	02ECDelta Systems, Inc	02EDHTC Corporation	02EECitizen Holdings Co., Ltd.	02EFSMART-INNOVATION.inc	\#
    02F0Blackrat Software	02F1The Idea Cave, LLC	02F2GoPro, Inc.	02F3AuthAir, Inc	02F4Vensi, Inc.	02F5Indagem Tech LLC	\#
    02F6Intemo Technologies	02F7DreamVisions co., Ltd.	02F8Runteq Oy Ltd	02F9IMAGINATION TECHNOLOGIES LTD	\#
    02FACoSTAR TEchnologies	02FBClarius Mobile Health Corp.	02FCShanghai Frequen Microelectronics Co., Ltd.	\#
    02FDUwanna, Inc.	02FELierda Science & Technology Group Co., Ltd.	02FFSilicon Laboratories	0300World Moto Inc.	\#
    0301Giatec Scientific Inc.	0302Loop Devices, Inc	0303IACA electronique	0304Proxy Technologies, Inc.	0305Swipp ApS	\#
    0306Life Laboratory Inc.	0307FUJI INDUSTRIAL CO.,LTD.	0308Surefire, LLC	0309Dolby Labs	030AEllisys	\#
    030BMagnitude Lighting Converters	030CHilti AG	030DDevdata S.r.l.	030EDeviceworx	030FShortcut Labs	\#
    0310SGL Italia S.r.l.	0311PEEQ DATA	0312Ducere Technologies Pvt Ltd	0313DiveNav, Inc.	0314RIIG AI Sp. z o.o.	\#
    0315Thermo Fisher Scientific	0316AG Measurematics Pvt. Ltd.	0317CHUO Electronics CO., LTD.	0318Aspenta International	\#
    0319Eugster Frismag AG	031AWurth Elektronik eiSos GmbH & Co. KG	031BHQ Inc	031CLab Sensor Solutions	031DEnterlab ApS	\#
    031EEyefi, Inc.	031FMetaSystem S.p.A.	0320SONO ELECTRONICS. CO., LTD	0321Jewelbots	0322Compumedics Limited	\#
    0323Rotor Bike Components	0324Astro, Inc.	0325Amotus Solutions	0326Healthwear Technologies (Changzhou)Ltd	\#
    0327Essex Electronics	0328Grundfos A/S	0329Eargo, Inc.	032AElectronic Design Lab	032BESYLUX	032CNIPPON SMT.CO.,Ltd	\#
    032DBM innovations GmbH	032Eindoormap	032FOttoQ Inc	0330North Pole Engineering	03313flares Technologies Inc.	\#
    0332Electrocompaniet A.S.	0333Mul-T-Lock	0334Airthings ASA	0335Enlighted Inc	0336GISTIC	0337AJP2 Holdings, LLC	\#
    0338COBI GmbH	0339Blue Sky Scientific, LLC	033AAppception, Inc.	033BCourtney Thorne Limited	033CVirtuosys	\#
    033DTPV Technology Limited	033EMonitra SA	033FAutomation Components, Inc.	0340Letsense s.r.l.	\#
    0341Etesian Technologies LLC	0342GERTEC BRASIL LTDA.	0343Drekker Development Pty. Ltd.	0344Whirl Inc	\#
    0345Locus Positioning	0346Acuity Brands Lighting, Inc	0347Prevent Biometrics	0348Arioneo	0349VersaMe	034AVaddio	\#
    034BLibratone A/S	034CHM Electronics, Inc.	034DTASER International, Inc.	034ESafeTrust Inc.	\#
    034FHeartland Payment Systems	0350Bitstrata Systems Inc.	0351Pieps GmbH	0352iRiding(Xiamen)Technology Co.,Ltd.	\#
    0353Alpha Audiotronics, Inc.	0354TOPPAN FORMS CO.,LTD.	0355Sigma Designs, Inc.	0356Spectrum Brands, Inc.	\#
    0357Polymap Wireless	0358MagniWare Ltd.	0359Novotec Medical GmbH	035APhillips-Medisize A/S	035BMatrix Inc.	\#
    035CEaton Corporation	035DKYS	035ENaya Health, Inc.	035FAcromag	0360Insulet Corporation	0361Wellinks Inc.	\#
    0362ON Semiconductor	0363FREELAP SA	0364Favero Electronics Srl	0365BioMech Sensor LLC	\#
    0366BOLTT Sports technologies Private limited	0367Saphe International	0368Metormote AB	0369littleBits	\#
    036ASetPoint Medical	036BBRControls Products BV	036CZipcar	036DAirBolt Pty Ltd	036EMOTIVE TECHNOLOGIES, INC.	\#
    036FMotiv, Inc.	0370Wazombi Labs OÃœ	0371ORBCOMM	0372Nixie Labs, Inc.	0373AppNearMe Ltd	0374Holman Industries	\#
    0375Expain AS	0376Electronic Temperature Instruments Ltd	0377Plejd AB	0378Propeller Health	\#
    0379Shenzhen iMCO Electronic Technology Co.,Ltd	037AAlgoria	037BApption Labs Inc.	037CCronologics Corporation	\#
    037DMICRODIA Ltd.	037Elulabytes S.L.	037FSociété des Produits Nestlé S.A.	0380LLC "MEGA-F service"	\#
    0381Sharp Corporation	0382Precision Outcomes Ltd	0383Kronos Incorporated	0384OCOSMOS Co., Ltd.	\#
    0385Embedded Electronic Solutions Ltd. dba e2Solutions	0386Aterica Inc.	0387BluStor PMC, Inc.	0388Kapsch TrafficCom AB	\#
    0389ActiveBlu Corporation	038AKohler Mira Limited	038BNoke	038CAppion Inc.	038DResmed Ltd	038ECrownstone B.V.	\#
    038FXiaomi Inc.	0390INFOTECH s.r.o.	0391Thingsquare AB	0392T&D	0393LAVAZZA S.p.A.	0394Netclearance Systems, Inc.	\#
    0395SDATAWAY	0396BLOKS GmbH	0397LEGO System A/S	0398Thetatronics Ltd	0399Nikon Corporation	039ANeST	\#
    039BSouth Silicon Valley Microelectronics	039CALE International	039DCareView Communications, Inc.	\#
    039ESchoolBoard Limited	039FMolex Corporation	03A0IVT Wireless Limited	03A1Alpine Labs LLC	03A2Candura Instruments	\#
    03A3SmartMovt Technology Co., Ltd	03A4Token Zero Ltd	03A5ACE CAD Enterprise Co., Ltd. (ACECAD)	03A6Medela, Inc	\#
    03A7AeroScout	03A8Esrille Inc.	03A9THINKERLY SRL	03AAExon Sp. z o.o.	03ABMeizu Technology Co., Ltd.	03ACSmablo LTD	\#
    03ADXiQ	03AEAllswell Inc.	03AFComm-N-Sense Corp DBA Verigo	03B0VIBRADORM GmbH	03B1Otodata Wireless Network Inc.	\#
    03B2Propagation Systems Limited	03B3Midwest Instruments & Controls	03B4Alpha Nodus, inc.	03B5petPOMM, Inc	03B6Mattel	\#
    03B7Airbly Inc.	03B8A-Safe Limited	03B9FREDERIQUE CONSTANT SA	03BAMaxscend Microelectronics Company Limited	03BBAbbott	\#
    03BCASB Bank Ltd	03BDamadas	03BEApplied Science, Inc.	03BFiLumi Solutions Inc.	03C0Arch Systems Inc.	\#
    03C1Ember Technologies, Inc.	03C2Snapchat Inc	03C3Casambi Technologies Oy	03C4Pico Technology Inc.	\#
    03C5St. Jude Medical, Inc.	03C6Intricon	03C7Structural Health Systems, Inc.	03C8Avvel International	03C9Gallagher Group	\#
    03CAIn2things Automation Pvt. Ltd.	03CBSYSDEV Srl	03CCVonkil Technologies Ltd	03CDWynd Technologies, Inc.	\#
    03CECONTRINEX S.A.	03CFMIRA, Inc.	03D0Watteam Ltd	03D1Density Inc.	03D2IOT Pot India Private Limited	\#
    03D3Sigma Connectivity AB	03D4PEG PEREGO SPA	03D5Wyzelink Systems Inc.	03D6Yota Devices LTD	03D7FINSECUR	\#
    03D8Zen-Me Labs Ltd	03D93IWare Co., Ltd.	03DAEnOcean GmbH	03DBInstabeat, Inc	03DCNima Labs	\#
    03DDAndreas Stihl AG & Co. KG	03DENathan Rhoades LLC	03DFGrob Technologies, LLC	\#
    03E0Actions (Zhuhai) Technology Co., Limited	03E1SPD Development Company Ltd	03E2Sensoan Oy	03E3Qualcomm Life Inc	\#
    03E4Chip-ing AG	03E5ffly4u	03E6IoT Instruments Oy	03E7TRUE Fitness Technology	03E8Reiner Kartengeraete GmbH & Co. KG.	\#
    03E9SHENZHEN LEMONJOY TECHNOLOGY CO., LTD.	03EAHello Inc.	03EBOzo Edu, Inc.	03ECJigowatts Inc.	03EDBASIC MICRO.COM,INC.	\#
    03EECUBE TECHNOLOGIES	03EFfoolography GmbH	03F0CLINK	03F1Hestan Smart Cooking Inc.	03F2WindowMaster A/S	\#
    03F3Flowscape AB	03F4PAL Technologies Ltd	03F5WHERE, Inc.	03F6Iton Technology Corp.	03F7Owl Labs Inc.	\#
    03F8Rockford Corp.	03F9Becon Technologies Co.,Ltd.	03FAVyassoft Technologies Inc	03FBNox Medical	03FCKimberly-Clark	\#
    03FDTrimble Inc.	03FELittelfuse	03FFWithings	0400i-developer IT Beratung UG	0401Relations Inc.	\#
    0402Sears Holdings Corporation	0403Gantner Electronic GmbH	0404Authomate Inc	0405Vertex International, Inc.	0406Airtago	\#
    0407Swiss Audio SA	0408ToGetHome Inc.	0409RYSE INC.	040AZF OPENMATICS s.r.o.	040BJana Care Inc.	040CSenix Corporation	\#
    040DNorthStar Battery Company, LLC	040ESKF (U.K.) Limited	040FCO-AX Technology, Inc.	0410Fender Musical Instruments	\#
    0411Luidia Inc	0412SEFAM	0413Wireless Cables Inc	0414Lightning Protection International Pty Ltd	\#
    0415Uber Technologies Inc	0416SODA GmbH	0417Fatigue Science	0418Reserved	0419Novalogy LTD	041AFriday Labs Limited	\#
    041BOrthoAccel Technologies	041CWaterGuru, Inc.	041DBenning Elektrotechnik und Elektronik GmbH & Co. KG	\#
    041EDell Computer Corporation	041FKopin Corporation	0420TecBakery GmbH	0421Backbone Labs, Inc.	0422DELSEY SA	\#
    0423Chargifi Limited	0424Trainesense Ltd.	0425Unify Software and Solutions GmbH & Co. KG	0426Husqvarna AB	\#
    0427Focus fleet and fuel management inc	0428SmallLoop, LLC	0429Prolon Inc.	042ABD Medical	042BiMicroMed Incorporated	\#
    042CTicto N.V.	042DMeshtech AS	042EMemCachier Inc.	042FDanfoss A/S	0430SnapStyk Inc.	0431Alticor Inc.	\#
    0432Silk Labs, Inc.	0433Pillsy Inc.	0434Hatch Baby, Inc.	0435Blocks Wearables Ltd.	\#
    0436Drayson Technologies (Europe) Limited	0437eBest IOT Inc.	0438Helvar Ltd	0439Radiance Technologies	\#
    043ANuheara Limited	043BAppside co., ltd.	043CDeLaval	043DCoiler Corporation	043EThermomedics, Inc.	\#
    043FTentacle Sync GmbH	0440Valencell, Inc.	0441iProtoXi Oy	0442SECOM CO., LTD.	0443Tucker International LLC	\#
    0444Metanate Limited	0445Kobian Canada Inc.	0446NETGEAR, Inc.	0447Fabtronics Australia Pty Ltd	0448Grand Centrix GmbH	\#
    04491UP USA.com llc	044ASHIMANO INC.	044BNain Inc.	044CLifeStyle Lock, LLC	044DVEGA Grieshaber KG	044EXtrava Inc.	\#
    044FTTS Tooltechnic Systems AG & Co. KG	0450Teenage Engineering AB	0451Tunstall Nordic AB	0452Svep Design Center AB	\#
    0453Qorvo Utrecht B.V.	0454Sphinx Electronics GmbH & Co KG	0455Atomation	0456Nemik Consulting Inc	0457RF INNOVATION	\#
    0458Mini Solution Co., Ltd.	0459Lumenetix, Inc	045A2048450 Ontario Inc	045BSPACEEK LTD	045CDelta T Corporation	\#
    045DBoston Scientific Corporation	045ENuviz, Inc.	045FReal Time Automation, Inc.	0460Kolibree	0461vhf elektronik GmbH	\#
    0462Bonsai Systems GmbH	0463Fathom Systems Inc.	0464Bellman & Symfon	0465International Forte Group LLC	\#
    0466CycleLabs Solutions inc.	0467Codenex Oy	0468Kynesim Ltd	0469Palago AB	046AINSIGMA INC.	046BPMD Solutions	\#
    046CQingdao Realtime Technology Co., Ltd.	046DBEGA Gantenbrink-Leuchten KG	046EPambor Ltd.	046FDevelco Products A/S	\#
    0470iDesign s.r.l.	0471TiVo Corp	0472Control-J Pty Ltd	0473Steelcase, Inc.	0474iApartment co., ltd.	0475Icom inc.	\#
    0476Oxstren Wearable Technologies Private Limited	0477Blue Spark Technologies	0478FarSite Communications Limited	\#
    0479mywerk system GmbH	047ASinosun Technology Co., Ltd.	047BMIYOSHI ELECTRONICS CORPORATION	047CPOWERMAT LTD	\#
    047DOccly LLC	047EOurHub Dev IvS	047FPro-Mark, Inc.	0480Dynometrics Inc.	0481Quintrax Limited	\#
    0482POS Tuning Udo Vosshenrich GmbH & Co. KG	0483Multi Care Systems B.V.	0484Revol Technologies Inc	0485SKIDATA AG	\#
    0486DEV TECNOLOGIA INDUSTRIA, COMERCIO E MANUTENCAO DE EQUIPAMENTOS LTDA. - ME	0487Centrica Connected Home	\#
    0488Automotive Data Solutions Inc	0489Igarashi Engineering	048ATaelek Oy	048BCP Electronics Limited	048CVectronix AG	\#
    048DS-Labs Sp. z o.o.	048ECompanion Medical, Inc.	048FBlueKitchen GmbH	0490Matting AB	\#
    0491SOREX - Wireless Solutions GmbH	0492ADC Technology, Inc.	0493Lynxemi Pte Ltd	\#
    0494SENNHEISER electronic GmbH & Co. KG	0495LMT Mercer Group, Inc	0496Polymorphic Labs LLC	0497Cochlear Limited	\#
    0498METER Group, Inc. USA	0499Ruuvi Innovations Ltd.	049ASitune AS	049BnVisti, LLC	049CDyOcean	\#
    049DUhlmann & Zacher GmbH	049EAND!XOR LLC	049FPopper Pay AB	04A0Vypin, LLC	04A1PNI Sensor Corporation	\#
    04A2ovrEngineered, LLC	04A3GT-tronics HK Ltd	04A4Herbert Waldmann GmbH & Co. KG	\#
    04A5Guangzhou FiiO Electronics Technology Co.,Ltd	04A6Vinetech Co., Ltd	04A7Dallas Logic Corporation	04A8BioTex, Inc.	\#
    04A9DISCOVERY SOUND TECHNOLOGY, LLC	04AALINKIO SAS	04ABHarbortronics, Inc.	04ACUndagrid B.V.	04ADShure Inc	\#
    04AEERM Electronic Systems LTD	04AFBIOROWER Handelsagentur GmbH	04B0Weba Sport und Med. Artikel GmbH	\#
    04B1Kartographers Technologies Pvt. Ltd.	04B2The Shadow on the Moon	04B3mobike (Hong Kong) Limited	04B4Inuheat Group AB	\#
    04B5Swiftronix AB	04B6Diagnoptics Technologies	04B7Analog Devices, Inc.	04B8Soraa Inc.	\#
    04B9CSR Building Products Limited	04BACrestron Electronics, Inc.	04BBNeatebox Ltd	04BCDraegerwerk AG & Co. KGaA	\#
    04BDAlbynMedical	04BEAveros FZCO	04BFVIT Initiative, LLC	04C0Statsports International	04C1Sospitas, s.r.o.	\#
    04C2Dmet Products Corp.	04C3Mantracourt Electronics Limited	04C4TeAM Hutchins AB	04C5Seibert Williams Glass, LLC	\#
    04C6Insta GmbH	04C7Svantek Sp. z o.o.	04C8Shanghai Flyco Electrical Appliance Co., Ltd.	04C9Thornwave Labs Inc	\#
    04CASteiner-Optik GmbH	04CBNovo Nordisk A/S	04CCEnflux Inc.	04CDSafetech Products LLC	04CEGOOOLED S.R.L.	\#
    04CFDOM Sicherheitstechnik GmbH & Co. KG	04D0Olympus Corporation	04D1KTS GmbH	04D2Anloq Technologies Inc.	\#
    04D3Queercon, Inc	04D45th Element Ltd	04D5Gooee Limited	04D6LUGLOC LLC	04D7Blincam, Inc.	04D8FUJIFILM Corporation	\#
    04D9RM Acquisition LLC	04DAFranceschi Marina snc	04DBEngineered Audio, LLC.	04DCIOTTIVE (OPC) PRIVATE LIMITED	\#
    04DD4MOD Technology	04DELutron Electronics Co., Inc.	04DFEmerson Electric Co.	04E0Guardtec, Inc.	04E1REACTEC LIMITED	\#
    04E2EllieGrid	04E3Under Armour	04E4Woodenshark	04E5Avack Oy	04E6Smart Solution Technology, Inc.	04E7REHABTRONICS INC.	\#
    04E8STABILO International	04E9Busch Jaeger Elektro GmbH	04EAPacific Bioscience Laboratories, Inc	\#
    04EBBird Home Automation GmbH	04ECMotorola Solutions	04EDR9 Technology, Inc.	04EEAuxivia	04EFDaisyWorks, Inc	\#
    04F0Kosi Limited	04F1Theben AG	04F2InDreamer Techsol Private Limited	04F3Cerevast Medical	04F4ZanCompute Inc.	\#
    04F5Pirelli Tyre S.P.A.	04F6McLear Limited	04F7Shenzhen Goodix Technology Co., Ltd	04F8Convergence Systems Limited	\#
    04F9Interactio	04FAAndrotec GmbH	04FBBenchmark Drives GmbH & Co. KG	04FCSwingLync L. L. C.	04FDTapkey GmbH	\#
    04FEWoosim Systems Inc.	04FFMicrosemi Corporation	0500Wiliot LTD.	0501Polaris IND	0502Specifi-Kali LLC	\#
    0503Locoroll, Inc	0504PHYPLUS Inc	0505InPlay, Inc.	0506Hager	0507Yellowcog	0508Axes System sp. z o. o.	\#
    0509Garage Smart, Inc.	050AShake-on B.V.	050BVibrissa Inc.	050COSRAM GmbH	050DTRSystems GmbH	\#
    050EYichip Microelectronics (Hangzhou) Co.,Ltd.	050FFoundation Engineering LLC	0510UNI-ELECTRONICS, INC.	\#
    0511Brookfield Equinox LLC	0512Soprod SA	05139974091 Canada Inc.	0514FIBRO GmbH	0515RB Controls Co., Ltd.	0516Footmarks	\#
    0517Amtronic Sverige AB	0518MAMORIO.inc	0519Tyto Life LLC	051ALeica Camera AG	051BAngee Technologies Ltd.	051CEDPS	\#
    051DOFF Line Co., Ltd.	051EDetect Blue Limited	051FSetec Pty Ltd	0520Target Corporation	0521IAI Corporation	\#
    0522NS Tech, Inc.	0523MTG Co., Ltd.	0524Hangzhou iMagic Technology Co., Ltd	\#
    0525HONGKONG NANO IC TECHNOLOGIES CO., LIMITED	0526Honeywell International Inc.	0527Albrecht JUNG	\#
    0528Lunera Lighting Inc.	0529Lumen UAB	052AKeynes Controls Ltd	052BNovartis AG	052CGeosatis SA	052DEXFO, Inc.	\#
    052ELEDVANCE GmbH	052FCenter ID Corp.	0530Adolene, Inc.	0531D&M Holdings Inc.	0532CRESCO Wireless, Inc.	\#
    0533Nura Operations Pty Ltd	0534Frontiergadget, Inc.	0535Smart Component Technologies Limited	\#
    0536ZTR Control Systems LLC	0537MetaLogics Corporation	0538Medela AG	0539OPPLE Lighting Co., Ltd	053ASavitech Corp.,	\#
    053Bprodigy	053CScreenovate Technologies Ltd	053DTESA SA	053ECLIM8 LIMITED	053FSilergy Corp	0540SilverPlus, Inc	\#
    0541Sharknet srl	0542Mist Systems, Inc.	0543MIWA LOCK CO.,Ltd	0544OrthoSensor, Inc.	0545Candy Hoover Group s.r.l	\#
    0546Apexar Technologies S.A.	0547LOGICDATA Electronic & Software Entwicklungs GmbH	\#
    0548Knick Elektronische Messgeraete GmbH & Co. KG	0549Smart Technologies and Investment Limited	054ALinough Inc.	\#
    054BAdvanced Electronic Designs, Inc.	054CCarefree Scott Fetzer Co Inc	054DSensome	054EFORTRONIK storitve d.o.o.	\#
    054FSinnoz	0550Versa Networks, Inc.	0551Sylero	0552Avempace SARL	0553Nintendo Co., Ltd.	0554National Instruments	\#
    0555KROHNE Messtechnik GmbH	0556Otodynamics Ltd	0557Arwin Technology Limited	0558benegear, inc.	0559Newcon Optik	\#
    055ACANDY HOUSE, Inc.	055BFRANKLIN TECHNOLOGY INC	055CLely	055DValve Corporation	055EHekatron Vertriebs GmbH	\#
    055FPROTECH S.A.S. DI GIRARDI ANDREA & C.	0560Sarita CareTech APS	0561Finder S.p.A.	0562Thalmic Labs Inc.	\#
    0563Steinel Vertrieb GmbH	0564Beghelli Spa	0565Beijing Smartspace Technologies Inc.	\#
    0566CORE TRANSPORT TECHNOLOGIES NZ LIMITED	0567Xiamen Everesports Goods Co., Ltd	0568Bodyport Inc.	\#
    0569Audionics System, INC.	056AFlipnavi Co.,Ltd.	056BRion Co., Ltd.	056CLong Range Systems, LLC	\#
    056DRedmond Industrial Group LLC	056EVIZPIN INC.	056FBikeFinder AS	0570Consumer Sleep Solutions LLC	0571PSIKICK, INC.	\#
    0572AntTail.com	0573Lighting Science Group Corp.	0574AFFORDABLE ELECTRONICS INC	0575Integral Memroy Plc	\#
    0576Globalstar, Inc.	0577True Wearables, Inc.	0578Wellington Drive Technologies Ltd	0579Ensemble Tech Private Limited	\#
    057AOMNI Remotes	057BDuracell U.S. Operations Inc.	057CToor Technologies LLC	057DInstinct Performance	057EBeco, Inc	\#
    057FScuf Gaming International, LLC	0580ARANZ Medical Limited	0581LYS TECHNOLOGIES LTD	0582Breakwall Analytics, LLC	\#
    0583Code Blue Communications	0584Gira Giersiepen GmbH & Co. KG	0585Hearing Lab Technology	0586LEGRAND	0587Derichs GmbH	\#
    0588ALT-TEKNIK LLC	0589Star Technologies	058ASTART TODAY CO.,LTD.	058BMaxim Integrated Products	\#
    058CFracarro Radioindustrie SRL	058DJungheinrich Aktiengesellschaft	058EMeta Platforms Technologies, LLC	\#
    058FHENDON SEMICONDUCTORS PTY LTD	0590Pur3 Ltd	0591Viasat Group S.p.A.	0592IZITHERM	0593Spaulding Clinical Research	\#
    0594Kohler Company	0595Inor Process AB	0596My Smart Blinds	0597RadioPulse Inc	0598rapitag GmbH	0599Lazlo326, LLC.	\#
    059ATeledyne Lecroy, Inc.	059BDataflow Systems Limited	059CMacrogiga Electronics	059DTandem Diabetes Care	\#
    059EPolycom, Inc.	059FFisher & Paykel Healthcare	05A0RCP Software Oy	05A1Shanghai Xiaoyi Technology Co.,Ltd.	\#
    05A2ADHERIUM(NZ) LIMITED	05A3Axiomware Systems Incorporated	05A4O. E. M. Controls, Inc.	05A5Kiiroo BV	\#
    05A6Telecon Mobile Limited	05A7Sonos Inc	05A8Tom Allebrandi Consulting	05A9Monidor	05AATramex Limited	05ABNofence AS	\#
    05ACGoerTek Dynaudio Co., Ltd.	05ADINIA	05AECARMATE MFG.CO.,LTD	05AFOV LOOP, INC.	05B0NewTec GmbH	\#
    05B1Medallion Instrumentation Systems	05B2CAREL INDUSTRIES S.P.A.	05B3Parabit Systems, Inc.	\#
    05B4White Horse Scientific ltd	05B5verisilicon	05B6Elecs Industry Co.,Ltd.	05B7Beijing Pinecone Electronics Co.,Ltd.	\#
    05B8Ambystoma Labs Inc.	05B9Suzhou Pairlink Network Technology	05BAigloohome	05BBOxford Metrics plc	\#
    05BCLeviton Mfg. Co., Inc.	05BDULC Robotics Inc.	05BERFID Global by Softwork SrL	05BFReal-World-Systems Corporation	\#
    05C0Nalu Medical, Inc.	05C1P.I.Engineering	05C2Grote Industries	05C3Runtime, Inc.	05C4Codecoup sp. z o.o. sp. k.	\#
    05C5SELVE GmbH & Co. KG	05C6Smart Animal Training Systems, LLC	05C7Lippert Components, INC	05C8SOMFY SAS	\#
    05C9TBS Electronics B.V.	05CAMHL Custom Inc	05CBLucentWear LLC	05CCWATTS ELECTRONICS	05CDRJ Brands LLC	05CEV-ZUG Ltd	\#
    05CFBiowatch SA	05D0Anova Applied Electronics	05D1Lindab AB	05D2frogblue TECHNOLOGY GmbH	05D3Acurable Limited	\#
    05D4LAMPLIGHT Co., Ltd.	05D5TEGAM, Inc.	05D6Zhuhai Jieli technology Co.,Ltd	05D7modum.io AG	05D8Farm Jenny LLC	\#
    05D9Toyo Electronics Corporation	05DAApplied Neural Research Corp	05DBAvid Identification Systems, Inc.	\#
    05DCPetronics Inc.	05DDessentim GmbH	05DEQT Medical INC.	05DFVIRTUALCLINIC.DIRECT LIMITED	05E0Viper Design LLC	\#
    05E1Human, Incorporated	05E2stAPPtronics GmbH	05E3Elemental Machines, Inc.	05E4Taiyo Yuden Co., Ltd	\#
    05E5INEO ENERGY& SYSTEMS	05E6Motion Instruments Inc.	05E7PressurePro	05E8COWBOY	05E9iconmobile GmbH	\#
    05EAACS-Control-System GmbH	05EBBayerische Motoren Werke AG	05ECGycom Svenska AB	05EDFuji Xerox Co., Ltd	\#
    05EEWristcam Inc.	05EFSIKOM AS	05F0beken	05F1The Linux Foundation	05F2Try and E CO.,LTD.	05F3SeeScan	05F4Clearity, LLC	\#
    05F5GS TAG	05F6DPTechnics	05F7TRACMO, INC.	05F8Anki Inc.	05F9Hagleitner Hygiene International GmbH	\#
    05FAKonami Sports Life Co., Ltd.	05FBArblet Inc.	05FCMasbando GmbH	05FDInnoseis	05FENiko nv	05FFWellnomics Ltd	\#
    0600iRobot Corporation	0601Schrader Electronics	0602Geberit International AG	0603Fourth Evolution Inc	0604Cell2Jack LLC	\#
    0605FMW electronic Futterer u. Maier-Wolf OHG	0606John Deere	0607Rookery Technology Ltd	0608KeySafe-Cloud	\#
    0609BUCHI Labortechnik AG	060AIQAir AG	060BTriax Technologies Inc	060CVuzix Corporation	060DTDK Corporation	\#
    060EBlueair AB	060FSignify Netherlands B.V.	0610ADH GUARDIAN USA LLC	0611Beurer GmbH	0612Playfinity AS	\#
    0613Hans Dinslage GmbH	0614OnAsset Intelligence, Inc.	0615INTER ACTION Corporation	0616OS42 UG (haftungsbeschraenkt)	\#
    0617WIZCONNECTED COMPANY LIMITED	0618Audio-Technica Corporation	0619Six Guys Labs, s.r.o.	061AR.W. Beckett Corporation	\#
    061Bsilex technology, inc.	061CUnivations Limited	061DSENS Innovation ApS	061EDiamond Kinetics, Inc.	061FPhrame Inc.	\#
    0620Forciot Oy	0621Noordung d.o.o.	0622Beam Labs, LLC	0623Philadelphia Scientific (U.K.) Limited	0624Biovotion AG	\#
    0625Square Panda, Inc.	0626Amplifico	0627WEG S.A.	0628Ensto Oy	0629PHONEPE PVT LTD	062ALunatico Astronomia SL	\#
    062BMinebeaMitsumi Inc.	062CASPion GmbH	062DVossloh-Schwabe Deutschland GmbH	062EProcept	062FONKYO Corporation	\#
    0630Asthrea D.O.O.	0631Fortiori Design LLC	0632Hugo Muller GmbH & Co KG	0633Wangi Lai PLT	0634Fanstel Corp	\#
    0635Crookwood	0636ELECTRONICA INTEGRAL DE SONIDO S.A.	0637GiP Innovation Tools GmbH	0638LX SOLUTIONS PTY LIMITED	\#
    0639Shenzhen Minew Technologies Co., Ltd.	063AProlojik Limited	063BKromek Group Plc	\#
    063CContec Medical Systems Co., Ltd.	063DXradio Technology Co.,Ltd.	063EThe Indoor Lab, LLC	063FLDL TECHNOLOGY	\#
    0640Dish Network LLC	0641Revenue Collection Systems FRANCE SAS	0642Bluetrum Technology Co.,Ltd	0643makita corporation	\#
    0644Apogee Instruments	0645BM3	0646SGV Group Holding GmbH & Co. KG	0647MED-EL	0648Ultune Technologies	\#
    0649Ryeex Technology Co.,Ltd.	064AOpen Research Institute, Inc.	064BScale-Tec, Ltd	064CZumtobel Group AG	064DiLOQ Oy	\#
    064EKRUXWorks Technologies Private Limited	064FDigital Matter Pty Ltd	0650Coravin, Inc.	0651Stasis Labs, Inc.	\#
    0652ITZ Innovations- und Technologiezentrum GmbH	0653Meggitt SA	0654Ledlenser GmbH & Co. KG	0655Renishaw PLC	\#
    0656ZhuHai AdvanPro Technology Company Limited	0657Meshtronix Limited	0658Payex Norge AS	0659UnSeen Technologies Oy	\#
    065AZound Industries International AB	065BSesam Solutions BV	065CPixArt Imaging Inc.	065DPanduit Corp.	065EAlo AB	\#
    065FRicoh Company Ltd	0660RTC Industries, Inc.	0661Mode Lighting Limited	0662Particle Industries, Inc.	\#
    0663Advanced Telemetry Systems, Inc.	0664RHA TECHNOLOGIES LTD	0665Pure International Limited	\#
    0666WTO Werkzeug-Einrichtungen GmbH	0667Spark Technology Labs Inc.	0668Bleb Technology srl	0669Livanova USA, Inc.	\#
    066ABrady Worldwide Inc.	066BDewertOkin GmbH	066CZtove ApS	066DVenso EcoSolutions AB	066EEurotronik Kranj d.o.o.	\#
    066FHug Technology Ltd	0670Gema Switzerland GmbH	0671Buzz Products Ltd.	0672Kopi	0673Innova Ideas Limited	0674BeSpoon	\#
    0675Deco Enterprises, Inc.	0676Expai Solutions Private Limited	0677Innovation First, Inc.	0678SABIK Offshore GmbH	\#
    06794iiii Innovations Inc.	067AThe Energy Conservatory, Inc.	067BI.FARM, INC.	067CTile, Inc.	067DForm Athletica Inc.	\#
    067EMbientLab Inc	067FNETGRID S.N.C. DI BISSOLI MATTEO, CAMPOREALE SIMONE, TOGNETTI FEDERICO	0680Mannkind Corporation	\#
    0681Trade FIDES a.s.	0682Photron Limited	0683Eltako GmbH	0684Dermalapps, LLC	0685Greenwald Industries	\#
    0686inQs Co., Ltd.	0687Cherry GmbH	0688Amsted Digital Solutions Inc.	0689Tacx b.v.	068ARaytac Corporation	\#
    068BJiangsu Teranovo Tech Co., Ltd.	068CChangzhou Sound Dragon Electronics and Acoustics Co., Ltd	068DJetBeep Inc.	\#
    068ERazer Inc.	068FJRM Group Limited	0690Eccrine Systems, Inc.	0691Curie Point AB	0692Georg Fischer AG	\#
    0693Hach - Danaher	0694T&A Laboratories LLC	0695Koki Holdings Co., Ltd.	0696Gunakar Private Limited	\#
    0697Stemco Products Inc	0698Wood IT Security, LLC	0699RandomLab SAS	069AAdero, Inc.	069BDragonchip Limited	069CNoomi AB	\#
    069DVakaros LLC	069EDelta Electronics, Inc.	069FFlowMotion Technologies AS	06A0OBIQ Location Technology Inc.	\#
    06A1Cardo Systems, Ltd	06A2Globalworx GmbH	06A3Nymbus, LLC	06A4LIMNO Co. Ltd.	06A5TEKZITEL PTY LTD	\#
    06A6Roambee Corporation	06A7Chipsea Technologies (ShenZhen) Corp.	06A8GD Midea Air-Conditioning Equipment Co., Ltd.	\#
    06A9Soundmax Electronics Limited	06AAProdual Oy	06ABHMS Industrial Networks AB	06ACIngchips Technology Co., Ltd.	\#
    06ADInnovaSea Systems Inc.	06AESenseQ Inc.	06AFShoof Technologies	06B0BRK Brands, Inc.	06B1SimpliSafe, Inc.	\#
    06B2Tussock Innovation 2013 Limited	06B3The Hablab ApS	06B4Sencilion Oy	06B5Wabilogic Ltd.	\#
    06B6Sociometric Solutions, Inc.	06B7iCOGNIZE GmbH	06B8ShadeCraft, Inc	06B9Beflex Inc.	06BABeaconzone Ltd	\#
    06BBLeaftronix Analogic Solutions Private Limited	06BCTWS Srl	06BDABB Oy	06BEHitSeed Oy	06BFDelcom Products Inc.	\#
    06C0CAME S.p.A.	06C1Alarm.com Holdings, Inc	06C2Measurlogic Inc.	06C3King I Electronics.Co.,Ltd	06C4Dream Labs GmbH	\#
    06C5Urban Compass, Inc	06C6Simm Tronic Limited	06C7Somatix Inc	06C8Storz & Bickel GmbH & Co. KG	06C9MYLAPS B.V.	\#
    06CAShenzhen Zhongguang Infotech Technology Development Co., Ltd	06CBDyeware, LLC	\#
    06CCDongguan SmartAction Technology Co.,Ltd.	06CDDIG Corporation	06CEFIOR & GENTZ	06CFBelparts N.V.	\#
    06D0Etekcity Corporation	06D1Meyer Sound Laboratories, Incorporated	06D2CeoTronics AG	06D3TriTeq Lock and Security, LLC	\#
    06D4DYNAKODE TECHNOLOGY PRIVATE LIMITED	06D5Sensirion AG	06D6JCT Healthcare Pty Ltd	\#
    06D7FUBA Automotive Electronics GmbH	06D8AW Company	06D9Shanghai Mountain View Silicon Co.,Ltd.	\#
    06DAZliide Technologies ApS	06DBAutomatic Labs, Inc.	06DCIndustrial Network Controls, LLC	06DDIntellithings Ltd.	\#
    06DENavcast, Inc.	06DFHLI Solutions Inc.	06E0Avaya Inc.	06E1Milestone AV Technologies LLC	06E2Alango Technologies Ltd	\#
    06E3Spinlock Ltd	06E4Aluna	06E5OPTEX CO.,LTD.	06E6NIHON DENGYO KOUSAKU	06E7VELUX A/S	06E8Almendo Technologies GmbH	\#
    06E9Zmartfun Electronics, Inc.	06EASafeLine Sweden AB	06EBHouston Radar LLC	06ECSigur	06EDJ Neades Ltd	\#
    06EEAvantis Systems Limited	06EFALCARE Co., Ltd.	06F0Chargy Technologies, SL	06F1Shibutani Co., Ltd.	\#
    06F2Trapper Data AB	06F3Alfred International Inc.	06F4Touché Technology Ltd	06F5Vigil Technologies Inc.	\#
    06F6Vitulo Plus BV	06F7WILKA Schliesstechnik GmbH	06F8BodyPlus Technology Co.,Ltd	06F9happybrush GmbH	06FAEnequi AB	\#
    06FBSartorius AG	06FCTom Communication Industrial Co.,Ltd.	06FDESS Embedded System Solutions Inc.	06FEMahr GmbH	\#
    06FFRedpine Signals Inc	0700TraqFreq LLC	0701PAFERS TECH	0702Akciju sabiedriba "SAF TEHNIKA"	\#
    0703Beijing Jingdong Century Trading Co., Ltd.	0704JBX Designs Inc.	0705AB Electrolux	\#
    0706Wernher von Braun Center for ASdvanced Research	0707Essity Hygiene and Health Aktiebolag	\#
    0708Be Interactive Co., Ltd	0709Carewear Corp.	070AHuf Hülsbeck & Fürst GmbH & Co. KG	070BElement Products, Inc.	\#
    070CBeijing Winner Microelectronics Co.,Ltd	070DSmartSnugg Pty Ltd	070EFiveCo Sarl	070FCalifornia Things Inc.	\#
    0710Audiodo AB	0711ABAX AS	0712Bull Group Company Limited	0713Respiri Limited	0714MindPeace Safety LLC	\#
    0715MBARC LABS Inc	0716Altonics	0717iQsquare BV	0718IDIBAIX enginneering	0719COREIOT PTY LTD	\#
    071AREVSMART WEARABLE HK CO LTD	071BPrecor	071CF5 Sports, Inc	071DexoTIC Systems	071EDONGGUAN HELE ELECTRONICS CO., LTD	\#
    071FDongguan Liesheng Electronic Co.Ltd	0720Oculeve, Inc.	0721Clover Network, Inc.	\#
    0722Xiamen Eholder Electronics Co.Ltd	0723Ford Motor Company	0724Guangzhou SuperSound Information Technology Co.,Ltd	\#
    0725Tedee Sp. z o.o.	0726PHC Corporation	0727STALKIT AS	0728Eli Lilly and Company	0729SwaraLink Technologies	\#
    072AJMR embedded systems GmbH	072BBitkey Inc.	072CGWA Hygiene GmbH	072DSafera Oy	072EOpen Platform Systems LLC	\#
    072FOnePlus Electronics (Shenzhen) Co., Ltd.	0730Wildlife Acoustics, Inc.	0731ABLIC Inc.	0732Dairy Tech, Inc.	\#
    0733Iguanavation, Inc.	0734DiUS Computing Pty Ltd	0735UpRight Technologies LTD	0736Luna XIO, Inc.	0737LLC Navitek	\#
    0738Glass Security Pte Ltd	0739Jiangsu Qinheng Co., Ltd.	073AChandler Systems Inc.	073BFantini Cosmi s.p.a.	\#
    073CAcubit ApS	073DBeijing Hao Heng Tian Tech Co., Ltd.	073EBluepack S.R.L.	073FBeijing Unisoc Technologies Co., Ltd.	\#
    0740HITIQ LIMITED	0741MAC SRL	0742DML LLC	0743Sanofi	0744SOCOMEC	0745WIZNOVA, Inc.	0746Seitec Elektronik GmbH	\#
    0747OR Technologies Pty Ltd	0748GuangZhou KuGou Computer Technology Co.Ltd	0749DIAODIAO (Beijing) Technology Co., Ltd.	\#
    074AIllusory Studios LLC	074BSarvavid Software Solutions LLP	074Ciopool s.a.	074DAmtech Systems, LLC	\#
    074EEAGLE DETECTION SA	074FMEDIATECH S.R.L.	0750Hamilton Professional Services of Canada Incorporated	\#
    0751Changsha JEMO IC Design Co.,Ltd	0752Elatec GmbH	0753JLG Industries, Inc.	0754Michael Parkin	\#
    0755Brother Industries, Ltd	0756Lumens For Less, Inc	0757ELA Innovation	0758umanSense AB	\#
    0759Shanghai InGeek Cyber Security Co., Ltd.	075AHARMAN CO.,LTD.	075BSmart Sensor Devices AB	075CAntitronics Inc.	\#
    075DRHOMBUS SYSTEMS, INC.	075EKaterra Inc.	075FRemote Solution Co., LTD.	0760Vimar SpA	0761Mantis Tech LLC	\#
    0762TerOpta Ltd	0763PIKOLIN S.L.	0764WWZN Information Technology Company Limited	0765Voxx International	\#
    0766ART AND PROGRAM, INC.	0767NITTO DENKO ASIA TECHNICAL CENTRE PTE. LTD.	0768Peloton Interactive Inc.	\#
    0769Force Impact Technologies	076ADmac Mobile Developments, LLC	076BEngineered Medical Technologies	\#
    076CNoodle Technology inc	076DGraesslin GmbH	076EWuQi technologies, Inc.	076FSuccessful Endeavours Pty Ltd	\#
    0770InnoCon Medical ApS	0771Corvex Connected Safety	0772Thirdwayv Inc.	0773Echoflex Solutions Inc.	\#
    0774C-MAX Asia Limited	07754eBusiness GmbH	0776Cyber Transport Control GmbH	0777Cue	0778KOAMTAC INC.	0779Loopshore Oy	\#
    077ANiruha Systems Private Limited	077BAmaterZ, Inc.	077Cradius co., ltd.	077DSensority, s.r.o.	077ESparkage Inc.	\#
    077FGlenview Software Corporation	0780Finch Technologies Ltd.	0781Qingping Technology (Beijing) Co., Ltd.	\#
    0782DeviceDrive AS	0783ESEMBER LIMITED LIABILITY COMPANY	0784audifon GmbH & Co. KG	0785O2 Micro, Inc.	\#
    0786HLP Controls Pty Limited	0787Pangaea Solution	0788BubblyNet, LLC	0789PCB Piezotronics, Inc.	\#
    078AThe Wildflower Foundation	078BOptikam Tech Inc.	078CMINIBREW HOLDING B.V	078DCybex GmbH	078EFUJIMIC NIIGATA, INC.	\#
    078FHanna Instruments, Inc.	0790KOMPAN A/S	0791Scosche Industries, Inc.	0792Cricut, Inc.	0793AEV spol. s r.o.	\#
    0794The Coca-Cola Company	0795GASTEC CORPORATION	0796StarLeaf Ltd	0797Water-i.d. GmbH	0798HoloKit, Inc.	\#
    0799PlantChoir Inc.	079AGuangDong Oppo Mobile Telecommunications Corp., Ltd.	079BCST ELECTRONICS (PROPRIETARY) LIMITED	\#
    079CSky UK Limited	079DDigibale Pty Ltd	079ESmartloxx GmbH	079FPune Scientific LLP	07A0Regent Beleuchtungskorper AG	\#
    07A1Apollo Neuroscience, Inc.	07A2Roku, Inc.	07A3Comcast Cable	07A4Xiamen Mage Information Technology Co., Ltd.	\#
    07A5RAB Lighting, Inc.	07A6Musen Connect, Inc.	07A7Zume, Inc.	07A8conbee GmbH	07A9Bruel & Kjaer Sound & Vibration	\#
    07AAThe Kroger Co.	07ABGranite River Solutions, Inc.	07ACLoupeDeck Oy	07ADNew H3C Technologies Co.,Ltd	\#
    07AEAurea Solucoes Tecnologicas Ltda.	07AFHong Kong Bouffalo Lab Limited	07B0GV Concepts Inc.	07B1Thomas Dynamics, LLC	\#
    07B2Moeco IOT Inc.	07B32N TELEKOMUNIKACE a.s.	07B4Hormann KG Antriebstechnik	07B5CRONO CHIP, S.L.	\#
    07B6Soundbrenner Limited	07B7ETABLISSEMENTS GEORGES RENAULT	07B8iSwip	07B9Epona Biotec Limited	07BABattery-Biz Inc.	\#
    07BBEPIC S.R.L.	07BCKD CIRCUITS LLC	07BDGenedrive Diagnostics Ltd	07BEAxentia Technologies AB	07BFREGULA Ltd.	\#
    07C0Biral AG	07C1A.W. Chesterton Company	07C2Radinn AB	07C3CIMTechniques, Inc.	07C4Johnson Health Tech NA	\#
    07C5June Life, Inc.	07C6Bluenetics GmbH	07C7iaconicDesign Inc.	07C8WRLDS Creations AB	07C9Skullcandy, Inc.	\#
    07CAModul-System HH AB	07CBWest Pharmaceutical Services, Inc.	07CCBarnacle Systems Inc.	\#
    07CDSmart Wave Technologies Canada Inc	07CEShanghai Top-Chip Microelectronics Tech. Co., LTD	07CFNeoSensory, Inc.	\#
    07D0Hangzhou Tuya Information Technology Co., Ltd	07D1Shanghai Panchip Microelectronics Co., Ltd	\#
    07D2React Accessibility Limited	07D3LIVNEX Co.,Ltd.	07D4Kano Computing Limited	07D5hoots classic GmbH	07D6ecobee Inc.	\#
    07D7Nanjing Qinheng Microelectronics Co., Ltd	07D8SOLUTIONS AMBRA INC.	07D9Micro-Design, Inc.	07DASTARLITE Co., Ltd.	\#
    07DBRemedee Labs	07DCThingOS GmbH & Co KG	07DDLinear Circuits	07DEUnlimited Engineering SL	07DFSnap-on Incorporated	\#
    07E0Edifier International Limited	07E1Lucie Labs	07E2Alfred Kaercher SE & Co. KG	07E3Airoha Technology Corp.	\#
    07E4Geeksme S.L.	07E5Minut, Inc.	07E6Waybeyond Limited	07E7Komfort IQ, Inc.	07E8Packetcraft, Inc.	\#
    07E9Häfele GmbH & Co KG	07EAShapeLog, Inc.	07EBNOVABASE S.R.L.	07ECFrecce LLC	07EDJoule IQ, INC.	07EEKidzTek LLC	\#
    07EFAktiebolaget Sandvik Coromant	07F0e-moola.com Pty Ltd	07F1Zimi Innovations Pty Ltd	07F2SERENE GROUP, INC	\#
    07F3DIGISINE ENERGYTECH CO. LTD.	07F4MEDIRLAB Orvosbiologiai Fejleszto Korlatolt Felelossegu Tarsasag	\#
    07F5Byton North America Corporation	07F6Shenzhen TonliScience and Technology Development Co.,Ltd	07F7Cesar Systems Ltd.	\#
    07F8quip NYC Inc.	07F9Direct Communication Solutions, Inc.	07FAKlipsch Group, Inc.	07FBAccess Co., Ltd	07FCRenault SA	\#
    07FDJSK CO., LTD.	07FEBIROTA	07FFmaxon motor ltd.	0800Optek	0801CRONUS ELECTRONICS LTD	0802NantSound, Inc.	\#
    0803Domintell s.a.	0804Andon Health Co.,Ltd	0805Urbanminded Ltd	0806TYRI Sweden AB	\#
    0807ECD Electronic Components GmbH Dresden	0808SISTEMAS KERN, SOCIEDAD ANÓMINA	0809Trulli Audio	080AAltaneos	\#
    080BNanoleaf Canada Limited	080CIngy B.V.	080DAzbil Co.	080ETATTCOM LLC	080FParadox Engineering SA	0810LECO Corporation	\#
    0811Becker Antriebe GmbH	0812Mstream Technologies., Inc.	0813Flextronics International USA Inc.	0814Ossur hf.	\#
    0815SKC Inc	0816SPICA SYSTEMS LLC	0817Wangs Alliance Corporation	0818tatwah SA	0819Hunter Douglas Inc	\#
    081AShenzhen Conex	081BDIM3	081CBobrick Washroom Equipment, Inc.	081DPotrykus Holdings and Development LLC	\#
    081EiNFORM Technology GmbH	081FeSenseLab LTD	0820Brilliant Home Technology, Inc.	0821INOVA Geophysical, Inc.	\#
    0822adafruit industries	0823Nexite Ltd	08248Power Limited	0825CME PTE. LTD.	0826Hyundai Motor Company	0827Kickmaker	\#
    0828Shanghai Suisheng Information Technology Co., Ltd.	0829HEXAGON METROLOGY DIVISION ROMER	082AMitutoyo Corporation	\#
    082Bshenzhen fitcare electronics Co.,Ltd	082CINGICS TECHNOLOGY CO., LTD.	082DINCUS PERFORMANCE LTD.	082EABB S.p.A.	\#
    082FBlippit AB	0830Core Health and Fitness LLC	0831Foxble, LLC	0832Intermotive,Inc.	0833Conneqtech B.V.	\#
    0834RIKEN KEIKI CO., LTD.,	0835Canopy Growth Corporation	0836Bitwards Oy	0837vivo Mobile Communication Co., Ltd.	\#
    0838Etymotic Research, Inc.	0839A puissance 3	083ABPW Bergische Achsen Kommanditgesellschaft	083BPiaggio Fast Forward	\#
    083CBeerTech LTD	083DTokenize, Inc.	083EZorachka LTD	083FD-Link Corp.	0840Down Range Systems LLC	\#
    0841General Luminaire (Shanghai) Co., Ltd.	0842Tangshan HongJia electronic technology co., LTD.	\#
    0843FRAGRANCE DELIVERY TECHNOLOGIES LTD	0844Pepperl + Fuchs GmbH	0845Dometic Corporation	0846USound GmbH	\#
    0847DNANUDGE LIMITED	0848JUJU JOINTS CANADA CORP.	0849Dopple Technologies B.V.	084AARCOM	084BBiotechware SRL	\#
    084CORSO Inc.	084DSafePort	084ECarol Cole Company	084FEmbedded Fitness B.V.	\#
    0850Yealink (Xiamen) Network Technology Co.,LTD	0851Subeca, Inc.	0852Cognosos, Inc.	0853Pektron Group Limited	\#
    0854Tap Sound System	0855Helios Sports, Inc.	0856Canopy Growth Corporation	0857Parsyl Inc	0858SOUNDBOKS	0859BlueUp	\#
    085ADAKATECH	085BNisshinbo Micro Devices Inc.	085CACOS CO.,LTD.	085DGuilin Zhishen Information Technology Co.,Ltd.	\#
    085EKrog Systems LLC	085FCOMPEGPS TEAM,SOCIEDAD LIMITADA	0860Alflex Products B.V.	0861SmartSensor Labs Ltd	\#
    0862SmartDrive	0863Yo-tronics Technology Co., Ltd.	0864Rafaelmicro	0865Emergency Lighting Products Limited	\#
    0866LAONZ Co.,Ltd	0867Western Digital Techologies, Inc.	0868WIOsense GmbH & Co. KG	0869EVVA Sicherheitstechnologie GmbH	\#
    086AOdic Incorporated	086BPacific Track, LLC	086CRevvo Technologies, Inc.	086DBiometrika d.o.o.	\#
    086EVorwerk Elektrowerke GmbH & Co. KG	086FTrackunit A/S	0870Wyze Labs, Inc	0871Dension Elektronikai Kft.	\#
    087211 Health & Technologies Limited	0873Innophase Incorporated	0874Treegreen Limited	0875Berner International LLC	\#
    0876SmartResQ ApS	0877Tome, Inc.	0878The Chamberlain Group, Inc.	0879MIZUNO Corporation	087AZRF, LLC	087BBYSTAMP	\#
    087CCrosscan GmbH	087DKonftel AB	087E1bar.net Limited	087FPhillips Connect Technologies LLC	0880imagiLabs AB	\#
    0881Optalert	0882PSYONIC, Inc.	0883Wintersteiger AG	\#
    0884Controlid Industria, Comercio de Hardware e Servicos de Tecnologia Ltda	0885LEVOLOR INC	\#
    0886Movella Technologies B.V.	0887Hydro-Gear Limited Partnership	0888EnPointe Fencing Pty Ltd	0889XANTHIO	\#
    088Asclak s.r.l.	088BTricorder Arraay Technologies LLC	088CGB Solution co.,Ltd	088DSoliton Systems K.K.	\#
    088EGIGA-TMS INC	088FTait International Limited	0890NICHIEI INTEC CO., LTD.	0891SmartWireless GmbH & Co. KG	\#
    0892Ingenieurbuero Birnfeld UG (haftungsbeschraenkt)	0893Maytronics Ltd	0894EPIFIT	0895Gimer medical	\#
    0896Nokian Renkaat Oyj	0897Current Lighting Solutions LLC	0898Sensibo, Inc.	0899SFS unimarket AG	\#
    089APrivate limited company "Teltonika"	089BSaucon Technologies	089CEmbedded Devices Co. Company	\#
    089DJ-J.A.D.E. Enterprise LLC	089Ei-SENS, inc.	089FWitschi Electronic Ltd	08A0Aclara Technologies LLC	\#
    08A1EXEO TECH CORPORATION	08A2Epic Systems Co., Ltd.	08A3Hoffmann SE	\#
    08A4Realme Chongqing Mobile Telecommunications Corp., Ltd.	08A5UMEHEAL Ltd	08A6Intelligenceworks Inc.	\#
    08A7TGR 1.618 Limited	08A8Shanghai Kfcube Inc	08A9Fraunhofer IIS	08AASZ DJI TECHNOLOGY CO.,LTD	\#
    08ABCoburn Technology, LLC	08ACTopre Corporation	08ADKayamatics Limited	08AEMoticon ReGo AG	08AFPolidea Sp. z o.o.	\#
    08B0Trivedi Advanced Technologies LLC	08B1CORE|vision BV	08B2PF SCHWEISSTECHNOLOGIE GMBH	\#
    08B3IONIQ Skincare GmbH & Co. KG	08B4Sengled Co., Ltd.	08B5TransferFi	08B6Boehringer Ingelheim Vetmedica GmbH	\#
    08B7ABB Inc	08B8Check Technology Solutions LLC	08B9U-Shin Ltd.	08BAHYPER ICE, INC.	08BBTokai-rika co.,ltd.	\#
    08BCPrevayl Limited	08BDbf1systems limited	08BEubisys technologies GmbH	08BFSIRC Co., Ltd.	\#
    08C0Accent Advanced Systems SLU	08C1Rayden.Earth LTD	08C2Lindinvent AB	08C3CHIPOLO d.o.o.	08C4CellAssist, LLC	\#
    08C5J. Wagner GmbH	08C6Integra Optics Inc	08C7Monadnock Systems Ltd.	08C8Liteboxer Technologies Inc.	08C9Noventa AG	\#
    08CANubia Technology Co.,Ltd.	08CBJT INNOVATIONS LIMITED	08CCTGM TECHNOLOGY CO., LTD.	08CDifly	08CEZIMI CORPORATION	\#
    08CFbetternotstealmybike UG (with limited liability)	08D0ESTOM Infotech Kft.	08D1Sensovium Inc.	08D2Virscient Limited	\#
    08D3Novel Bits, LLC	08D4ADATA Technology Co., LTD.	08D5KEYes	08D6Nome Oy	08D7Inovonics Corp	08D8WARES	\#
    08D9Pointr Labs Limited	08DAMiridia Technology Incorporated	08DBTertium Technology	\#
    08DCSHENZHEN AUKEY E BUSINESS CO., LTD	08DDcode-Q	08DETE Connectivity Corporation	08DFIRIS OHYAMA CO.,LTD.	\#
    08E0Philia Technology	08E1KOZO KEIKAKU ENGINEERING Inc.	08E2Shenzhen Simo Technology co. LTD	\#
    08E3Republic Wireless, Inc.	08E4Rashidov ltd	08E5Crowd Connected Ltd	08E6Eneso Tecnologia de Adaptacion S.L.	\#
    08E7Barrot Technology Co.,Ltd.	08E8Naonext	08E9Taiwan Intelligent Home Corp.	08EACOWBELL ENGINEERING CO.,LTD.	\#
    08EBBeijing Big Moment Technology Co., Ltd.	08ECDenso Corporation	08EDIMI Hydronic Engineering International SA	\#
    08EEAskey Computer Corp.	08EFCumulus Digital Systems, Inc	08F0Joovv, Inc.	08F1The L.S. Starrett Company	08F2Microoled	\#
    08F3PSP - Pauli Services & Products GmbH	08F4Kodimo Technologies Company Limited	\#
    08F5Tymtix Technologies Private Limited	08F6Dermal Photonics Corporation	08F7MTD Products Inc & Affiliates	\#
    08F8instagrid GmbH	08F9Spacelabs Medical Inc.	08FATroo Corporation	08FBDarkglass Electronics Oy	08FCHill-Rom	\#
    08FDBioIntelliSense, Inc.	08FEKetronixs Sdn Bhd	08FFPlastimold Products, Inc	0900Beijing Zizai Technology Co., LTD.	\#
    0901Lucimed	0902TSC Auto-ID Technology Co., Ltd.	0903DATAMARS, Inc.	0904SUNCORPORATION	0905Yandex Services AG	\#
    0906Scope Logistical Solutions	0907User Hello, LLC	0908Pinpoint Innovations Limited	090970mai Co.,Ltd.	\#
    090AZhuhai Hoksi Technology CO.,LTD	090BEMBR labs, INC	090CRadiawave Technologies Co.,Ltd.	090DIOT Invent GmbH	\#
    090EOPTIMUSIOT TECH LLP	090FVC Inc.	0910ASR Microelectronics (Shanghai) Co., Ltd.	0911Douglas Lighting Controls Inc.	\#
    0912Nerbio Medical Software Platforms Inc	0913Braveheart Wireless, Inc.	0914INEO-SENSE	0915Honda Motor Co., Ltd.	\#
    0916Ambient Sensors LLC	0917ASR Microelectronics(ShenZhen)Co., Ltd.	0918Technosphere Labs Pvt. Ltd.	0919NO SMD LIMITED	\#
    091AAlbertronic BV	091BLuminostics, Inc.	091COblamatik AG	091DInnokind, Inc.	091EMelbot Studios, Sociedad Limitada	\#
    091FMyzee Technology	0920Omnisense Limited	0921KAHA PTE. LTD.	0922Shanghai MXCHIP Information Technology Co., Ltd.	\#
    0923JSB TECH PTE LTD	0924Fundacion Tecnalia Research and Innovation	0925Yukai Engineering Inc.	\#
    0926Gooligum Technologies Pty Ltd	0927ROOQ GmbH	0928AiRISTA	0929Qingdao Haier Technology Co., Ltd.	\#
    092ASappl Verwaltungs- und Betriebs GmbH	092BTekHome	092CPCI Private Limited	092DLeggett & Platt, Incorporated	\#
    092EPS GmbH	092FC.O.B.O. SpA	0930James Walker RotaBolt Limited	0931BREATHINGS Co., Ltd.	0932BarVision, LLC	0933SRAM	\#
    0934KiteSpring Inc.	0935Reconnect, Inc.	0936Elekon AG	0937RealThingks GmbH	0938Henway Technologies, LTD.	\#
    0939ASTEM Co.,Ltd.	093ALinkedSemi Microelectronics (Xiamen) Co., Ltd	093BENSESO LLC	093CXenoma Inc.	\#
    093DAdolf Wuerth GmbH & Co KG	093ECatalyft Labs, Inc.	093FJEPICO Corporation	0940Hero Workout GmbH	\#
    0941Rivian Automotive, LLC	0942TRANSSION HOLDINGS LIMITED	0943Reserved	0944Agitron d.o.o.	0945Globe (Jiangsu) Co., Ltd	\#
    0946AMC International Alfa Metalcraft Corporation AG	0947First Light Technologies Ltd.	0948Wearable Link Limited	\#
    0949Metronom Health Europe	094AZwift, Inc.	094BKindeva Drug Delivery L.P.	094CGimmiSys GmbH	094DtkLABS INC.	\#
    094EPassiveBolt, Inc.	094FLimited Liability Company "Mikrotikls"	0950Capetech	0951PPRS	0952Apptricity Corporation	\#
    0953LogiLube, LLC	0954Julbo	0955Breville Group	0956Kerlink	0957Ohsung Electronics	0958ZTE Corporation	0959HerdDogg, Inc	\#
    095ASelekt Bilgisayar, lletisim Urunleri lnsaat Sanayi ve Ticaret Limited Sirketi	095BLismore Instruments Limited	\#
    095CLogiLube, LLC	095DElectronic Theatre Controls	095EBioEchoNet inc.	095FNUANCE HEARING LTD	0960Sena Technologies Inc.	\#
    0961Linkura AB	0962GL Solutions K.K.	0963Moonbird BV	0964Countrymate Technology Limited	0965Asahi Kasei Corporation	\#
    0966PointGuard, LLC	0967Neo Materials and Consulting Inc.	0968Actev Motors, Inc.	\#
    0969Woan Technology (Shenzhen) Co., Ltd.	096Adricos, Inc.	096BGuide ID B.V.	096C9374-7319 Quebec inc	096DGunwerks, LLC	\#
    096EBand Industries, inc.	096FLund Motion Products, Inc.	0970IBA Dosimetry GmbH	0971GA	\#
    0972Closed Joint Stock Company "Zavod Flometr" ("Zavod Flometr" CJSC)	0973Popit Oy	0974ABEYE	\#
    0975BlueIOT(Beijing) Technology Co.,Ltd	0976Fauna Audio GmbH	0977TOYOTA motor corporation	0978ZifferEins GmbH & Co. KG	\#
    0979BIOTRONIK SE & Co. KG	097ACORE CORPORATION	097BCTEK Sweden AB	097CThorley Industries, LLC	097DCLB B.V.	\#
    097ESonicSensory Inc	097FISEMAR S.R.L.	0980DEKRA TESTING AND CERTIFICATION, S.A.U.	0981Bernard Krone Holding SE & Co.KG	\#
    0982ELPRO-BUCHS AG	0983Feedback Sports LLC	0984TeraTron GmbH	0985Lumos Health Inc.	0986Cello Hill, LLC	\#
    0987TSE BRAKES, INC.	0988BHM-Tech Produktionsgesellschaft m.b.H	0989WIKA Alexander Wiegand SE & Co.KG	098ABiovigil	\#
    098BMequonic Engineering, S.L.	098CbGrid B.V.	098DC3-WIRELESS, LLC	098EADVEEZ	098FAktiebolaget Regin	\#
    0990Anton Paar GmbH	0991Telenor ASA	0992Big Kaiser Precision Tooling Ltd	0993Absolute Audio Labs B.V.	0994VT42 Pty Ltd	\#
    0995Bronkhorst High-Tech B.V.	0996C. & E. Fein GmbH	0997NextMind	0998Pixie Dust Technologies, Inc.	0999eTactica ehf	\#
    099ANew Audio LLC	099BSendum Wireless Corporation	099Cdeister electronic GmbH	099DYKK AP Inc.	099EStep One Limited	\#
    099FKoya Medical, Inc.	09A0Proof Diagnostics, Inc.	09A1VOS Systems, LLC	09A2ENGAGENOW DATA SCIENCES PRIVATE LIMITED	\#
    09A3ARDUINO SA	09A4KUMHO ELECTRICS, INC	09A5Security Enhancement Systems, LLC	09A6BEIJING ELECTRIC VEHICLE CO.,LTD	\#
    09A7Paybuddy ApS	09A8KHN Solutions LLC	09A9Nippon Ceramic Co.,Ltd.	09AAPHOTODYNAMIC INCORPORATED	09ABDashLogic, Inc.	\#
    09ACAmbiq	09ADNarhwall Inc.	09AEPozyx NV	09AFifLink Open Community	09B0Deublin Company, LLC	09B1BLINQY	09B2DYPHI	\#
    09B3BlueX Microelectronics Corp Ltd.	09B4PentaLock Aps.	09B5AUTEC Gesellschaft fuer Automationstechnik mbH	\#
    09B6Pegasus Technologies, Inc.	09B7Bout Labs, LLC	09B8PlayerData Limited	09B9SAVOY ELECTRONIC LIGHTING	\#
    09BAElimo Engineering Ltd	09BBSkyStream Corporation	09BCAerosens LLC	\#
    09BDCentre Suisse d'Electronique et de Microtechnique SA	09BEVessel Ltd.	09BFSpan.IO, Inc.	09C0AnotherBrain inc.	\#
    09C1Rosewill	09C2Universal Audio, Inc.	09C3JAPAN TOBACCO INC.	09C4UVISIO	09C5HungYi Microelectronics Co.,Ltd.	\#
    09C6Honor Device Co., Ltd.	09C7Combustion, LLC	09C8XUNTONG	09C9CrowdGlow Ltd	09CAMobitrace	09CBHx Engineering, LLC	\#
    09CCSenso4s d.o.o.	09CDBlyott	09CEJulius Blum GmbH	09CFBlueStreak IoT, LLC	09D0Chess Wise B.V.	\#
    09D1ABLEPAY TECHNOLOGIES AS	09D2Temperature Sensitive Solutions Systems Sweden AB	09D3HeartHero, inc.	09D4ORBIS Inc.	\#
    09D5GEAR RADIO ELECTRONICS CORP.	09D6EAR TEKNIK ISITME VE ODIOMETRI CIHAZLARI SANAYI VE TICARET ANONIM SIRKETI	\#
    09D7Coyotta	09D8Synergy Tecnologia em Sistemas Ltda	09D9VivoSensMedical GmbH	09DANagravision SA	\#
    09DBBionic Avionics Inc.	09DCAON2 Ltd.	09DDInnoware Development AB	09DEJLD Technology Solutions, LLC	\#
    09DFMagnus Technology Sdn Bhd	09E0Preddio Technologies Inc.	09E1Tag-N-Trac Inc	09E2Wuhan Linptech Co.,Ltd.	\#
    09E3Friday Home Aps	09E4CPS AS	09E5Mobilogix	09E6Masonite Corporation	09E7Kabushikigaisha HANERON	\#
    09E8Melange Systems Pvt. Ltd.	09E9LumenRadio AB	09EAAthlos Oy	09EBKEAN ELECTRONICS PTY LTD	\#
    09ECYukon advanced optics worldwide, UAB	09EDSibel Inc.	09EEOJMAR SA	09EFSteinel Solutions AG	09F0WatchGas B.V.	\#
    09F1OM Digital Solutions Corporation	09F2Audeara Pty Ltd	09F3Beijing Zero Zero Infinity Technology Co.,Ltd.	\#
    09F4Spectrum Technologies, Inc.	09F5OKI Electric Industry Co., Ltd	09F6Mobile Action Technology Inc.	\#
    09F7SENSATEC Co., Ltd.	09F8R.O. S.R.L.	09F9Hangzhou Yaguan Technology Co. LTD	09FAListen Technologies Corporation	\#
    09FBTOITU CO., LTD.	09FCConfidex	09FDKeep Technologies, Inc.	09FELichtvision Engineering GmbH	09FFAIRSTAR	\#
    0A00Ampler Bikes OU	0A01Cleveron AS	0A02Ayxon-Dynamics GmbH	0A03donutrobotics Co., Ltd.	0A04Flosonics Medical	\#
    0A05Southwire Company, LLC	0A06Shanghai wuqi microelectronics Co.,Ltd	0A07Reflow Pty Ltd	0A08Oras Oy	0A09ECCT	\#
    0A0AVolan Technology Inc.	0A0BSIANA Systems	0A0CShanghai Yidian Intelligent Technology Co., Ltd.	0A0DBlue Peacock GmbH	\#
    0A0ERoland Corporation	0A0FLIXIL Corporation	0A10SUBARU Corporation	0A11Sensolus	0A12Dyson Technology Limited	\#
    0A13Tec4med LifeScience GmbH	0A14CROXEL, INC.	0A15Syng Inc	0A16RIDE VISION LTD	0A17Plume Design Inc	\#
    0A18Cambridge Animal Technologies Ltd	0A19Maxell, Ltd.	0A1ALink Labs, Inc.	0A1BEmbrava Pty Ltd	0A1CINPEAK S.C.	\#
    0A1DAPI-K	0A1ECombiQ AB	0A1FDeVilbiss Healthcare LLC	0A20Jiangxi Innotech Technology Co., Ltd	0A21Apollogic Sp. z o.o.	\#
    0A22DAIICHIKOSHO CO., LTD.	0A23BIXOLON CO.,LTD	0A24Atmosic Technologies, Inc.	0A25Eran Financial Services LLC	\#
    0A26Louis Vuitton	0A27AYU DEVICES PRIVATE LIMITED	0A28NanoFlex Power Corporation	0A29Worthcloud Technology Co.,Ltd	\#
    0A2AYamaha Corporation	0A2BPaceBait IVS	0A2CShenzhen H&T Intelligent Control Co., Ltd	\#
    0A2DShenzhen Feasycom Technology Co., Ltd.	0A2EZuma Array Limited	0A2FInstamic, Inc.	0A30Air-Weigh	0A31Nevro Corp.	\#
    0A32Pinnacle Technology, Inc.	0A33WMF AG	0A34Luxer Corporation	0A35safectory GmbH	0A36NGK SPARK PLUG CO., LTD.	\#
    0A372587702 Ontario Inc.	0A38Bouffalo Lab (Nanjing)., Ltd.	0A39BLUETICKETING SRL	0A3AIncotex Co. Ltd.	\#
    0A3BGalileo Technology Limited	0A3CSiteco GmbH	0A3DDELABIE	0A3EHefei Yunlian Semiconductor Co., Ltd	\#
    0A3FShenzhen Yopeak Optoelectronics Technology Co., Ltd.	0A40GEWISS S.p.A.	0A41OPEX Corporation	0A42Motionalysis, Inc.	\#
    0A43Busch Systems International Inc.	0A44Novidan, Inc.	0A453SI Security Systems, Inc	\#
    0A46Beijing HC-Infinite Technology Limited	0A47The Wand Company Ltd	0A48JRC Mobility Inc.	0A49Venture Research Inc.	\#
    0A4AMap Large, Inc.	0A4BMistyWest Energy and Transport Ltd.	0A4CSiFli Technologies (shanghai) Inc.	\#
    0A4DLockn Technologies Private Limited	0A4EToytec Corporation	0A4FVANMOOF Global Holding B.V.	0A50Nextscape Inc.	\#
    0A51CSIRO	0A52Follow Sense Europe B.V.	0A53KKM COMPANY LIMITED	0A54SQL Technologies Corp.	0A55Inugo Systems Limited	\#
    0A56ambie	0A57Meizhou Guo Wei Electronics Co., Ltd	0A58Indigo Diabetes	0A59TourBuilt, LLC	\#
    0A5ASontheim Industrie Elektronik GmbH	0A5BLEGIC Identsystems AG	0A5CInnovative Design Labs Inc.	\#
    0A5DMG Energy Systems B.V.	0A5ELaceClips llc	0A5Fstryker	0A60DATANG SEMICONDUCTOR TECHNOLOGY CO.,LTD	\#
    0A61Smart Parks B.V.	0A62MOKO TECHNOLOGY Ltd	0A63Gremsy JSC	0A64Geopal system A/S	0A65Lytx, INC.	\#
    0A66JUSTMORPH PTE. LTD.	0A67Beijing SuperHexa Century Technology CO. Ltd	0A68Focus Ingenieria SRL	\#
    0A69HAPPIEST BABY, INC.	0A6AScribble Design Inc.	0A6BOlympic Ophthalmics, Inc.	0A6CPokkels	0A6DKUUKANJYOKIN Co.,Ltd.	\#
    0A6EPac Sane Limited	0A6FWarner Bros.	0A70Ooma	0A71Senquip Pty Ltd	0A72Jumo GmbH & Co. KG	0A73Innohome Oy	\#
    0A74MICROSON S.A.	0A75Delta Cycle Corporation	0A76Synaptics Incorporated	0A77AXTRO PTE. LTD.	\#
    0A78Shenzhen Sunricher Technology Limited	0A79Webasto SE	0A7AEmlid Limited	0A7BUniqAir Oy	0A7CWAFERLOCK	\#
    0A7DFreedman Electronics Pty Ltd	0A7EKEBA Handover Automation GmbH	0A7FIntuity Medical	0A80Cleer Limited	\#
    0A81Universal Biosensors Pty Ltd	0A82Corsair	0A83Rivata, Inc.	0A84Greennote Inc,	0A85Snowball Technology Co., Ltd.	\#
    0A86ALIZENT International	0A87Shanghai Smart System Technology Co., Ltd	0A88PSA Peugeot Citroen	0A89SES-Imagotag	\#
    0A8AHAINBUCH GMBH SPANNENDE TECHNIK	0A8BSANlight GmbH	0A8CDelpSys, s.r.o.	0A8DJCM TECHNOLOGIES S.A.	0A8EPerfect Company	\#
    0A8FTOTO LTD.	0A90Shenzhen Grandsun Electronic Co.,Ltd.	0A91Monarch International Inc.	0A92Carestream Dental LLC	\#
    0A93GiPStech S.r.l.	0A94OOBIK Inc.	0A95Pamex Inc.	0A96Lightricity Ltd	0A97SensTek	0A98Foil, Inc.	\#
    0A99Shanghai high-flying electronics technology Co.,Ltd	0A9ATEMKIN ASSOCIATES, LLC	0A9BEello LLC	\#
    0A9CXi'an Fengyu Information Technology Co., Ltd.	0A9DCanon Finetech Nisca Inc.	0A9ELifePlus, Inc.	\#
    0A9Fista International GmbH	0AA0Loy Tec electronics GmbH	0AA1LINCOGN TECHNOLOGY CO. LIMITED	0AA2Care Bloom, LLC	\#
    0AA3DIC Corporation	0AA4FAZEPRO LLC	0AA5Shenzhen Uascent Technology Co., Ltd	0AA6Realityworks, inc.	0AA7Urbanista AB	\#
    0AA8Zencontrol Pty Ltd	0AA9Mrinq Technologies LLC	0AAAComputime International Ltd	0AABAnhui Listenai Co	\#
    0AACOSM HK Limited	0AADAdevo Consulting AB	0AAEPS Engineering, Inc.	0AAFAIAIAI ApS	0AB0Visiontronic s.r.o.	\#
    0AB1InVue Security Products Inc	0AB2TouchTronics, Inc.	0AB3INNER RANGE PTY. LTD.	0AB4Ellenby Technologies, Inc.	\#
    0AB5Elstat Electronics Ltd.	0AB6Xenter, Inc.	0AB7LogTag North America Inc.	0AB8Sens.ai Incorporated	0AB9STL	\#
    0ABAOpen Bionics Ltd.	0ABBR-DAS, s.r.o.	0ABCKCCS Mobile Engineering Co., Ltd.	0ABDInventas AS	\#
    0ABERobkoo Information & Technologies Co., Ltd.	0ABFPAUL HARTMANN AG	0AC0Omni-ID USA, INC.	\#
    0AC1Shenzhen Jingxun Technology Co., Ltd.	0AC2RealMega Microelectronics technology (Shanghai) Co. Ltd.	0AC3Kenzen, Inc.	\#
    0AC4CODIUM	0AC5Flexoptix GmbH	0AC6Barnes Group Inc.	0AC7Chengdu Aich Technology Co.,Ltd	0AC8Keepin Co., Ltd.	\#
    0AC9Swedlock AB	0ACAShenzhen CoolKit Technology Co., Ltd	0ACBise Individuelle Software und Elektronik GmbH	0ACCNuvoton	\#
    0ACDVisuallex Sport International Limited	0ACEKOBATA GAUGE MFG. CO., LTD.	0ACFCACI Technologies	0AD0Nordic Strong ApS	\#
    0AD1EAGLE KINGDOM TECHNOLOGIES LIMITED	0AD2Lautsprecher Teufel GmbH	0AD3SSV Software Systems GmbH	\#
    0AD4Zhuhai Pantum Electronisc Co., Ltd	0AD5Streamit B.V.	0AD6nymea GmbH	0AD7AL-KO Geraete GmbH	\#
    0AD8Franz Kaldewei GmbH&Co KG	0AD9Shenzhen Aimore. Co.,Ltd	0ADACodefabrik GmbH	0ADBReelables, Inc.	0ADCDuravit AG	\#
    0ADDBoss Audio	0ADEVocera Communications, Inc.	0ADFDouglas Dynamics L.L.C.	0AE0Viceroy Devices Corporation	\#
    0AE1ChengDu ForThink Technology Co., Ltd.	0AE2IMATRIX SYSTEMS, INC.	0AE3GlobalMed	0AE4DALI Alliance	0AE5unu GmbH	\#
    0AE6Hexology	0AE7Sunplus Technology Co., Ltd.	0AE8LEVEL, s.r.o.	0AE9FLIR Systems AB	0AEABorda Technology	\#
    0AEBSquare, Inc.	0AECFUTEK ADVANCED SENSOR TECHNOLOGY, INC	0AEDSaxonar GmbH	0AEEVelentium, LLC	\#
    0AEFGLP German Light Products GmbH	0AF0Leupold & Stevens, Inc.	0AF1CRADERS,CO.,LTD	\#
    0AF2Shanghai All Link Microelectronics Co.,Ltd	0AF3701x Inc.	0AF4Radioworks Microelectronics PTY LTD	\#
    0AF5Unitech Electronic Inc.	0AF6AMETEK, Inc.	0AF7Irdeto	0AF8First Design System Inc.	0AF9Unisto AG	\#
    0AFAChengdu Ambit Technology Co., Ltd.	0AFBSMT ELEKTRONIK GmbH	0AFCCerebrum Sensor Technologies Inc.	\#
    0AFDWeber Sensors, LLC	0AFEEarda Technologies Co.,Ltd	0AFFFUSEAWARE LIMITED	0B00Flaircomm Microelectronics Inc.	\#
    0B01RESIDEO TECHNOLOGIES, INC.	0B02IORA Technology Development Ltd. Sti.	0B03Precision Triathlon Systems Limited	\#
    0B04I-PERCUT	0B05Marquardt GmbH	0B06FAZUA GmbH	0B07Workaround Gmbh	\#
    0B08Shenzhen Qianfenyi Intelligent Technology Co., LTD	0B09soonisys	0B0ABelun Technology Company Limited	\#
    0B0BSanistaal A/S	0B0CBluPeak	0B0DSANYO DENKO Co.,Ltd.	0B0EHonda Lock Mfg. Co.,Ltd.	0B0FB.E.A. S.A.	\#
    0B10Alfa Laval Corporate AB	0B11ThermoWorks, Inc.	0B12ToughBuilt Industries LLC	0B13IOTOOLS	0B14Olumee	\#
    0B15NAOS JAPAN K.K.	0B16Guard RFID Solutions Inc.	0B17SIG SAUER, INC.	0B18DECATHLON SE	0B19WBS PROJECT H PTY LTD	\#
    0B1ARoca Sanitario, S.A.	0B1BEnerpac Tool Group Corp.	0B1CNanoleq AG	0B1DAccelerated Systems	0B1EPB INC.	\#
    0B1FBeijing ESWIN Computing Technology Co., Ltd.	0B20TKH Security B.V.	0B21ams AG	0B22Hygiene IQ, LLC.	\#
    0B23iRhythm Technologies, Inc.	0B24BeiJing ZiJie TiaoDong KeJi Co.,Ltd.	0B25NIBROTECH LTD	\#
    0B26Baracoda Daily Healthtech.	0B27Lumi United Technology Co., Ltd	0B28CHACON	\#
    0B29Tech-Venom Entertainment Private Limited	0B2AACL Airshop B.V.	0B2BMAINBOT	0B2CILLUMAGEAR, Inc.	\#
    0B2DREDARC ELECTRONICS PTY LTD	0B2EMOCA System Inc.	0B2FDuke Manufacturing Co	0B30ART SPA	0B31Silver Wolf Vehicles Inc.	\#
    0B32Hala Systems, Inc.	0B33ARMATURA LLC	0B34CONZUMEX INDUSTRIES PRIVATE LIMITED	0B35BH SENS	0B36SINTEF	\#
    0B37Omnivoltaic Energy Solutions Limited Company	0B38WISYCOM S.R.L.	0B39Red 100 Lighting Co., ltd.	\#
    0B3AImpact Biosystems, Inc.	0B3BAIC semiconductor (Shanghai) Co., Ltd.	0B3CDodge Industrial, Inc.	0B3DREALTIMEID AS	\#
    0B3EISEO Serrature S.p.a.	0B3FMindRhythm, Inc.	0B40Havells India Limited	0B41Sentrax GmbH	0B42TSI	\#
    0B43INCITAT ENVIRONNEMENT	0B44nFore Technology Co., Ltd.	0B45Electronic Sensors, Inc.	0B46Bird Rides, Inc.	\#
    0B47Gentex Corporation	0B48NIO USA, Inc.	0B49SkyHawke Technologies	0B4ANomono AS	0B4BEMS Integrators, LLC	\#
    0B4CBiosBob.Biz	0B4DAdam Hall GmbH	0B4EICP Systems B.V.	0B4FBreezi.io, Inc.	0B50Mesh Systems LLC	0B51FUN FACTORY GmbH	\#
    0B52ZIIP Inc	0B53SHENZHEN KAADAS INTELLIGENT TECHNOLOGY CO.,Ltd	0B54Emotion Fitness GmbH & Co. KG	\#
    0B55H G M Automotive Electronics, Inc.	0B56BORA - Vertriebs GmbH & Co KG	0B57CONVERTRONIX TECHNOLOGIES AND SERVICES LLP	\#
    0B58TOKAI-DENSHI INC	0B59Versa Group B.V.	0B5AH.P. Shelby Manufacturing, LLC.	\#
    0B5BShenzhen ImagineVision Technology Limited	0B5CExponential Power, Inc.	0B5DFujian Newland Auto-ID Tech. Co., Ltd.	\#
    0B5ECELLCONTROL, INC.	0B5FRivieh, Inc.	0B60RATOC Systems, Inc.	0B61Sentek Pty Ltd	0B62NOVEA ENERGIES	\#
    0B63Innolux Corporation	0B64NingBo klite Electric Manufacture Co.,LTD	0B65The Apache Software Foundation	\#
    0B66MITSUBISHI ELECTRIC AUTOMATION (THAILAND) COMPANY LIMITED	0B67CleanSpace Technology Pty Ltd	0B68Quha oy	0B69Addaday	\#
    0B6ADymo	0B6BSamsara Networks, Inc	0B6CSensitech, Inc.	0B6DSOLUM CO., LTD	0B6EReact Mobile	\#
    0B6FShenzhen Malide Technology Co.,Ltd	0B70JDRF Electromag Engineering Inc	0B71lilbit ODM AS	0B72Geeknet, Inc.	\#
    0B73HARADA INDUSTRY CO., LTD.	0B74BQN	0B75Triple W Japan Inc.	0B76MAX-co., ltd	0B77Aixlink(Chengdu) Co., Ltd.	\#
    0B78FIELD DESIGN INC.	0B79Sankyo Air Tech Co.,Ltd.	0B7AShenzhen KTC Technology Co.,Ltd.	0B7BHardcoder Oy	\#
    0B7CScangrip A/S	0B7DFoundersLane GmbH	0B7EOffcode Oy	0B7FICU tech GmbH	0B80AXELIFE	0B81SCM Group	\#
    0B82Mammut Sports Group AG	0B83Taiga Motors Inc.	0B84Presidio Medical, Inc.	0B85VIMANA TECH PTY LTD	0B86Trek Bicycle	\#
    0B87Ampetronic Ltd	0B88Muguang (Guangdong) Intelligent Lighting Technology Co., Ltd	0B89Rotronic AG	\#
    0B8ASeiko Instruments Inc.	0B8BAmerican Technology Components, Incorporated	0B8CMOTREX	0B8DPertech Industries Inc	\#
    0B8EGentle Energy Corp.	0B8FSenscomm Semiconductor Co., Ltd.	0B90Ineos Automotive Limited	0B91Alfen ICU B.V.	\#
    0B92Citisend Solutions, SL	0B93Hangzhou BroadLink Technology Co., Ltd.	0B94Dreem SAS	0B95Netwake GmbH	\#
    0B96Telecom Design	0B97SILVER TREE LABS, INC.	0B98Gymstory B.V.	0B99The Goodyear Tire & Rubber Company	\#
    0B9ABeijing Wisepool Infinite Intelligence Technology Co.,Ltd	0B9BGISMAN	0B9CKomatsu Ltd.	0B9DSensoria Holdings LTD	\#
    0B9EAudio Partnership Plc	0B9FGroup Lotus Limited	0BA0Data Sciences International	0BA1Bunn-O-Matic Corporation	\#
    0BA2TireCheck GmbH	0BA3Sonova Consumer Hearing GmbH	0BA4Vervent Audio Group	0BA5SONICOS ENTERPRISES, LLC	\#
    0BA6Nissan Motor Co., Ltd.	0BA7hearX Group (Pty) Ltd	0BA8GLOWFORGE INC.	0BA9Allterco Robotics ltd	0BAAInfinitegra, Inc.	\#
    0BABGrandex International Corporation	0BACMachfu Inc.	0BADRoambotics, Inc.	0BAESoma Labs LLC	\#
    0BAFNITTO KOGYO CORPORATION	0BB0Ecolab Inc.	0BB1Beijing ranxin intelligence technology Co.,LTD	0BB2Fjorden Electra AS	\#
    0BB3Flender GmbH	0BB4New Cosmos USA, Inc.	0BB5Xirgo Technologies, LLC	0BB6Build With Robots Inc.	0BB7IONA Tech LLC	\#
    0BB8INNOVAG PTY. LTD.	0BB9SaluStim Group Oy	0BBAHuso, INC	0BBBSWISSINNO SOLUTIONS AG	\#
    0BBCT2REALITY SOLUTIONS PRIVATE LIMITED	0BBDETHEORY PTY LTD	0BBESAAB Aktiebolag	0BBFHIMSA II K/S	0BC0READY FOR SKY LLP	\#
    0BC1Miele & Cie. KG	0BC2EntWick Co.	0BC3MCOT INC.	0BC4TECHTICS ENGINEERING B.V.	0BC5Aperia Technologies, Inc.	\#
    0BC6TCL COMMUNICATION EQUIPMENT CO.,LTD.	0BC7Signtle Inc.	0BC8OTF Distribution, LLC	0BC9Neuvatek Inc.	\#
    0BCAPerimeter Technologies, Inc.	0BCBDivesoft s.r.o.	0BCCSylvac sa	0BCDAmiko srl	0BCENeurosity, Inc.	\#
    0BCFLL Tec Group LLC	0BD0Durag GmbH	0BD1Hubei Yuan Times Technology Co., Ltd.	0BD2IDEC	0BD3Procon Analytics, LLC	\#
    0BD4ndd Medizintechnik AG	0BD5Super B Lithium Power B.V.	0BD6Shenzhen Injoinic Technology Co., Ltd.	\#
    0BD7VINFAST TRADING AND PRODUCTION JOINT STOCK COMPANY	0BD8PURA SCENTS, INC.	0BD9Elics Basis Ltd.	0BDAAardex Ltd.	\#
    0BDBCHAR-BROIL, LLC	0BDCLedworks S.r.l.	0BDDCoroflo Limited	0BDEYale	0BDFWINKEY ENTERPRISE (HONG KONG) LIMITED	\#
    0BE0Koizumi Lighting Technology corp.	0BE1Back40 Precision	0BE2OTC engineering	0BE3Comtel Systems Ltd.	\#
    0BE4Deepfield Connect GmbH	0BE5ZWILLING J.A. Henckels Aktiengesellschaft	0BE6Puratap Pty Ltd	\#
    0BE7Fresnel Technologies, Inc.	0BE8Sensormate AG	0BE9Shindengen Electric Manufacturing Co., Ltd.	\#
    0BEATwenty Five Seven, prodaja in storitve, d.o.o.	0BEBLuna Health, Inc.	0BECMiracle-Ear, Inc.	0BEDCORAL-TAIYI Co. Ltd.	\#
    0BEELINKSYS USA, INC.	0BEFSafetytest GmbH	0BF0KIDO SPORTS CO., LTD.	0BF1Site IQ LLC	0BF2Angel Medical Systems, Inc.	\#
    0BF3PONE BIOMETRICS AS	0BF4ER Lab LLC	0BF5T5 tek, Inc.	0BF6greenTEG AG	0BF7Wacker Neuson SE	0BF8Innovacionnye Resheniya	\#
    0BF9Alio, Inc	0BFACleanBands Systems Ltd.	0BFBDodam Enersys Co., Ltd	0BFCT+A elektroakustik GmbH & Co.KG	\#
    0BFDEsmé Solutions	0BFEMedia-Cartec GmbH	0BFFRatio Electric BV	0C00MQA Limited	0C01NEOWRK SISTEMAS INTELIGENTES S.A.	\#
    0C02Loomanet, Inc.	0C03Puff Corp	0C04Happy Health, Inc.	0C05Montage Connect, Inc.	0C06LED Smart Inc.	\#
    0C07CONSTRUKTS, INC.	0C08limited liability company "Red"	0C09Senic Inc.	0C0AAutomated Pet Care Products, LLC	\#
    0C0Baconno GmbH	0C0CMendeltron, Inc.	0C0DMereltron bv	0C0EALEX DENKO CO.,LTD.	0C0FAETERLINK	0C10Cosmed s.r.l.	\#
    0C11Gordon Murray Design Limited	0C12IoSA	0C13Scandinavian Health Limited	0C14Fasetto, Inc.	0C15Geva Sol B.V.	\#
    0C16TYKEE PTY. LTD.	0C17SomnoMed Limited	0C18CORROHM	0C19Arlo Technologies, Inc.	0C1ACatapult Group International Ltd	\#
    0C1BRockchip Electronics Co., Ltd.	0C1CGEMU	0C1DOFF Line Japan Co., Ltd.	0C1EEC sense co., Ltd	0C1FLVI Co.	\#
    0C20COMELIT GROUP S.P.A.	0C21Foshan Viomi Electrical Technology Co., Ltd	0C22Glamo Inc.	0C23KEYTEC,Inc.	\#
    0C24SMARTD TECHNOLOGIES INC.	0C25JURA Elektroapparate AG	0C26Performance Electronics, Ltd.	0C27Pal Electronics	\#
    0C28Embecta Corp.	0C29DENSO AIRCOOL CORPORATION	0C2ACaresix Inc.	0C2BGigaDevice Semiconductor Inc.	\#
    0C2CZeku Technology (Shanghai) Corp., Ltd.	0C2DOTF Product Sourcing, LLC	0C2EEasee AS	0C2FBEEHERO, INC.	\#
    0C30McIntosh Group Inc	0C31KINDOO LLP	0C32Xian Yisuobao Electronic Technology Co., Ltd.	0C33Exeger Operations AB	\#
    0C34BYD Company Limited	0C35Thermokon-Sensortechnik GmbH	0C36Cosmicnode BV	0C37SignalQuest, LLC	0C38Noritz Corporation.	\#
    0C39TIGER CORPORATION	0C3AEquinosis, LLC	0C3BORB Innovations Ltd	0C3CClassified Cycling	0C3DWrmth Corp.	\#
    0C3EBELLDESIGN Inc.	0C3FStinger Equipment, Inc.	0C40HORIBA, Ltd.	0C41Control Solutions LLC	0C42Heath Consultants Inc.	\#
    0C43Berlinger & Co. AG	0C44ONCELABS LLC	0C45Brose Verwaltung SE, Bamberg	0C46Granwin IoT Technology (Guangzhou) Co.,Ltd	\#
    0C47Epsilon Electronics,lnc	0C48VALEO MANAGEMENT SERVICES	0C49twopounds gmbh	0C4AatSpiro ApS	0C4BADTRAN, Inc.	\#
    0C4COrpyx Medical Technologies Inc.	0C4DSeekwave Technology Co.,ltd.	0C4ETactile Engineering, Inc.	\#
    0C4FSharkNinja Operating LLC	0C50Imostar Technologies Inc.	0C51INNOVA S.R.L.	0C52ESCEA LIMITED	0C53Taco, Inc.	\#
    0C54HiViz Lighting, Inc.	0C55Zintouch B.V.	0C56Rheem Sales Company, Inc.	0C57UNEEG medical A/S	0C58Hykso Inc.	\#
    0C59CYBERDYNE Inc.	0C5ALockswitch Sdn Bhd	0C5BAlban Giacomo S.P.A.	0C5CMGM WIRELESSS HOLDINGS PTY LTD	\#
    0C5DStepUp Solutions ApS	0C5EBlueID GmbH	0C5FNanjing Linkpower Microelectronics Co.,Ltd	0C60KEBA Energy Automation GmbH	\#
    0C61NNOXX, Inc	0C62Phiaton Corporation	0C63phg Peter Hengstler GmbH + Co. KG	0C64dormakaba Holding AG	0C65WAKO CO,.LTD	\#
    0C66DEN Smart Home B.V.	0C67TRACKTING S.R.L.	0C68Emerja Corporation	0C69BLITZ electric motors. LTD	\#
    0C6ACONSORCIO TRUST CONTROL - NETTEL	0C6BGILSON SAS	0C6CSNIFF LOGIC LTD	0C6DFidure Corp.	0C6ESensa LLC	0C6FParakey AB	\#
    0C70SCARAB SOLUTIONS LTD	0C71BitGreen Technolabz (OPC) Private Limited	0C72StreetCar ORV, LLC	\#
    0C73Truma GerÃ¤tetechnik GmbH & Co. KG	0C74yupiteru	0C75Embedded Engineering Solutions LLC	\#
    0C76Shenzhen Gwell Times Technology Co. , Ltd	0C77TEAC Corporation	0C78CHARGTRON IOT PRIVATE LIMITED	\#
    0C79Zhuhai Smartlink Technology Co., Ltd	0C7ATriductor Technology (Suzhou), Inc.	0C7BPT SADAMAYA GRAHA TEKNOLOGI	\#
    0C7CMopeka Products LLC	0C7D3ALogics, Inc.	0C7EBOOMING OF THINGS	0C7FRochester Sensors, LLC	\#
    0C80CARDIOID - TECHNOLOGIES, LDA	0C81Carrier Corporation	0C82NACON	0C83Watchdog Systems LLC	0C84MAXON INDUSTRIES, INC.	\#
    0C85Amlogic, Inc.	0C86Qingdao Eastsoft Communication Technology Co.,Ltd	0C87Weltek Technologies Company Limited	\#
    0C88Nextivity Inc.	0C89AGZZX OPTOELECTRONICS TECHNOLOGY CO., LTD	0C8AARTISTIC&CO.GLOBAL Ltd.	0C8BHeavys Inc	\#
    0C8CT-Mobile USA	0C8Dtonies GmbH	0C8ETechnocon Engineering Ltd.	0C8FRadar Automobile Sales(Shandong)Co.,Ltd.	\#
    0C90WESCO AG	0C91Yashu Systems	0C92Kesseböhmer Ergonomietechnik GmbH	0C93Movesense Oy	0C94Baxter Healthcare Corporation	\#
    0C95Gemstone Lights Canada Ltd.	0C96H+B Hightech GmbH	0C97Deako	0C98MiX Telematics International (PTY) LTD	\#
    0C99Vire Health Oy	0C9AALF Inc.	0C9BNTT sonority, Inc.	\#
    0C9CSunstone-RTLS Ipari Szolgaltato Korlatolt Felelossegu Tarsasag	0C9DRibbiot, INC.	0C9EECCEL CORPORATION SAS	\#
    0C9FDragonfly Energy Corp.	0CA0BIGBEN	0CA1YAMAHA MOTOR CO.,LTD.	0CA2XSENSE LTD	0CA3MAQUET GmbH	\#
    0CA4MITSUBISHI ELECTRIC LIGHTING CO, LTD	0CA5Princess Cruise Lines, Ltd.	0CA6Megger Ltd	0CA7Verve InfoTec Pty Ltd	\#
    0CA8Sonas, Inc.	0CA9Mievo Technologies Private Limited	0CAAShenzhen Poseidon Network Technology Co., Ltd	\#
    0CABHERUTU ELECTRONICS CORPORATION	0CACShenzhen Shokz Co.,Ltd.	0CADShenzhen Openhearing Tech CO., LTD .	\#
    0CAEEvident Corporation	0CAFNEURINNOV	0CB0SwipeSense, Inc.	0CB1RF Creations	0CB2SHINKAWA Sensor Technology, Inc.	\#
    0CB3janova GmbH	0CB4Eberspaecher Climate Control Systems GmbH	0CB5Racketry, d. o. o.	0CB6THE EELECTRIC MACARON LLC	\#
    0CB7Cucumber Lighting Controls Limited	0CB8Shanghai Proxy Network Technology Co., Ltd.	0CB9seca GmbH & Co. KG	\#
    0CBAAmeso Tech (OPC) Private Limited	0CBBEmlid Tech Kft.	0CBCTROX GmbH	0CBDPricer AB	\#
    0CBEMissing Company ID from Bluetooth SIG Assigned Numbers	0CBFForward Thinking Systems LLC.	\#
    0CC0Garnet Instruments Ltd.	0CC1CLEIO Inc.	0CC2Anker Innovations Limited	0CC3HMD Global Oy	\#
    0CC4ABUS August Bremicker Soehne Kommanditgesellschaft	0CC5Open Road Solutions, Inc.	0CC6Serial Technology Corporation	\#
    0CC7SB C&S Corp.	0CC8TrikThom	0CC9Innocent Technology Co., Ltd.	0CCACyclops Marine Ltd	0CCBNOTHING TECHNOLOGY LIMITED	\#
    0CCCKord Defence Pty Ltd	0CCDYanFeng Visteon(Chongqing) Automotive Electronic Co.,Ltd	0CCESENOSPACE LLC	\#
    0CCFShenzhen CESI Information Technology Co., Ltd.	0CD0MooreSilicon Semiconductor Technology (Shanghai) Co., LTD.	\#
    0CD1Imagine Marketing Limited	0CD2EQOM SSC B.V.	0CD3TechSwipe	0CD4Shenzhen Zhiduotun IoT Technology Co., Ltd	\#
    0CD5Numa Products, LLC	0CD6HHO (Hangzhou) Digital Technology Co., Ltd.	0CD7Maztech Industries, LLC	0CD8SIA Mesh Group	\#
    0CD9Minami acoustics Limited	0CDAWolf Steel ltd	0CDBCircus World Displays Limited	0CDCYpsomed AG	\#
    0CDDAlif Semiconductor, Inc.	0CDERESPONSE TECHNOLOGIES, LTD.	0CDFSHENZHEN CHENYUN ELECTRONICS CO., LTD	\#
    0CE0VODALOGIC PTY LTD	0CE1Regal Beloit America, Inc.	0CE2CORVENT MEDICAL, INC.	0CE3Taiwan Fuhsing	\#
    0CE4Off-Highway Powertrain Services Germany GmbH	0CE5Amina Distribution AS	0CE6McWong International, Inc.	\#
    0CE7TAG HEUER SA	0CE8Dongguan Yougo Electronics Co.,Ltd.	0CE9PEAG, LLC dba JLab Audio	0CEAHAYWARD INDUSTRIES, INC	\#
    0CEBShenzhen Tingting Technology Co. LTD	0CECPacific Coast Fishery Services (2003) Inc.	0CEDCV. NURI TEKNIK	\#
    0CEEMadgeTech, Inc	0CEFPOGS B.V.	0CF0THOTAKA TEKHNOLOGIES INDIA PRIVATE LIMITED	0CF1Midmark	0CF2BestSens AG	\#
    0CF3Radio Sound	0CF4SOLUX PTY LTD	0CF5BOS Balance of Storage Systems AG	0CF6OJ Electronics A/S	\#
    0CF7TVS Motor Company Ltd.	0CF8core sensing GmbH	0CF9Tamblue Oy	0CFAProtect Animals With Satellites LLC	\#
    0CFBTyromotion GmbH	0CFCElectronX design	0CFDWuhan Woncan Construction Technologies Co., Ltd.	0CFEThule Group AB	\#
    0CFFErgodriven Inc	0D00Sparkpark AS	0D01KEEPEN	0D02Rocky Mountain ATV/MC Jake Wilson	0D03MakuSafe Corp	\#
    0D04Bartec Auto Id Ltd	0D05Energy Technology and Control Limited	0D06doubleO Co., Ltd.	0D07Datalogic S.r.l.	\#
    0D08Datalogic USA, Inc.	0D09Leica Geosystems AG	0D0ACATEYE Co., Ltd.	0D0BResearch Products Corporation	0D0CPlanmeca Oy	\#
    0D0DC.Ed. Schulte GmbH Zylinderschlossfabrik	0D0EPetVoice Co., Ltd.	0D0FTimebirds Australia Pty Ltd	\#
    0D10JVC KENWOOD Corporation	0D11Great Dane LLC	0D12Spartek Systems Inc.	0D13MERRY ELECTRONICS CO., LTD.	\#
    0D14Merry Electronics (S) Pte Ltd	0D15Spark	0D16Nations Technologies Inc.	0D17Akix S.r.l.	0D18Bioliberty Ltd	\#
    0D19C.G. Air Systemes Inc.	0D1AMaturix ApS	0D1BRACHIO, INC.	0D1CLIMBOID LLC	0D1DElectronics4All Inc.	\#
    0D1EFESTINA LOTUS SA	0D1FSynkopi, Inc.	0D20SCIENTERRA LIMITED	0D21Cennox Group Limited	0D22Cedarware, Corp.	\#
    0D23GREE Electric Appliances, Inc. of Zhuhai	0D24Japan Display Inc.	0D25System Elite Holdings Group Limited	\#
    0D26Burkert Werke GmbH & Co. KG	0D27velocitux	0D28FUJITSU COMPONENT LIMITED	0D29MIYAKAWA ELECTRIC WORKS LTD	\#
    0D2APhysioLogic Devices, Inc.	0D2BSensoryx AG	0D2CSIL System Integration Laboratory GmbH	0D2DCooler Pro, LLC	\#
    0D2EAdvanced Electronic Applications, Inc	0D2FDelta Development Team, Inc	0D30Laxmi Therapeutic Devices, Inc.	\#
    0D31SYNCHRON, INC.	0D32Badger Meter	0D33Micropower Group AB	0D34ZILLIOT TECHNOLOGIES PRIVATE LIMITED	\#
    0D35Universidad Politecnica de Madrid	0D36XIHAO INTELLIGENGT TECHNOLOGY CO., LTD	0D37Zerene Inc.	0D38CycLock	\#
    0D39Systemic Games, LLC	0D3AFrost Solutions, LLC	0D3BLone Star Marine Pty Ltd	0D3CSIRONA Dental Systems GmbH	\#
    0D3DbHaptics Inc.	0D3ELUMINOAH, INC.	0D3FVogels Products B.V.	0D40SignalFire Telemetry, Inc.	0D41CPAC Systems AB	\#
    0D42TEKTRO TECHNOLOGY CORPORATION	0D43Gosuncn Technology Group Co., Ltd.	0D44Ex Makhina Inc.	0D45Odeon, Inc.	\#
    0D46Thales Simulation & Training AG	0D47Shenzhen DOKE Electronic Co., Ltd	0D48Vemcon GmbH	\#
    0D49Refrigerated Transport Electronics, Inc.	0D4ARockpile Solutions, LLC	0D4BSoundwave Hearing, LLC	\#
    0D4CIotGizmo Corporation	0D4DOptec, LLC	0D4ENIKAT SOLUTIONS PRIVATE LIMITED	0D4FMovano Inc.	\#
    0D50Ningbo Fotile Marketing Co.,Ltd.	0D51Genetus inc.	0D52DIVAN TRADING CO., LTD.	0D53Luxottica Group S.p.A
    """#

  /// Appearances, and their categories: 301.
  static let appearances: StaticString = #"""
    0000Unknown	0040Phone	0080Computer	0081Computer: Desktop Workstation	0082Computer: Server Class Computer	\#
    0083Computer: Laptop	0084Computer: Handheld PC PDA	0085Computer: Palm Size PC PDA	0086Computer: Wearable Computer	\#
    0087Computer: Tablet	0088Computer: Docking Station	0089Computer: All In One	008AComputer: Blade Server	\#
    008BComputer: Convertible	008CComputer: Detachable	008DComputer: IoT Gateway	008EComputer: Mini PC	\#
    008FComputer: Stick PC	00C0Watch	00C1Watch: Sports Watch	00C2Watch: Smartwatch	0100Clock	0140Display	0180Remote Control	\#
    01C0Eye Glasses	0200Tag	0240Keyring	0280Media Player	02C0Barcode Scanner	0300Thermometer	\#
    0301Thermometer: Ear Thermometer	0340Heart Rate Sensor	0341Heart Rate Sensor: Heart Rate Belt	0380Blood Pressure	\#
    0381Blood Pressure: Arm Blood Pressure	0382Blood Pressure: Wrist Blood Pressure	03C0Human Interface Device	\#
    03C1Human Interface Device: Keyboard	03C2Human Interface Device: Mouse	03C3Human Interface Device: Joystick	\#
    03C4Human Interface Device: Gamepad	03C5Human Interface Device: Digitizer Tablet	\#
    03C6Human Interface Device: Card Reader	03C7Human Interface Device: Digital Pen	\#
    03C8Human Interface Device: Barcode Scanner	03C9Human Interface Device: Touchpad	\#
    03CAHuman Interface Device: Presentation Remote	0400Glucose Meter	0440Running Walking Sensor	\#
    0441Running Walking Sensor: In Shoe Running Walking Sensor	0442Running Walking Sensor: On Show Running Walking Sensor	\#
    0443Running Walking Sensor: On Hip Running Walking Sensor	0480Cycling	0481Cycling: Cycling Computer	\#
    0482Cycling: Speed Sensor	0483Cycling: Cadence Sensor	0484Cycling: Power Sensor	0485Cycling: Speed And Cadence Sensor	\#
    04C0Control Device	04C1Control Device: Switch	04C2Control Device: Multi Switch	04C3Control Device: Button	\#
    04C4Control Device: Slider	04C5Control Device: Rotary Switch	04C6Control Device: Touch Panel	\#
    04C7Control Device: Single Switch	04C8Control Device: Double Switch	04C9Control Device: Triple Switch	\#
    04CAControl Device: Battery Switch	04CBControl Device: Energy Harvesting Switch	04CCControl Device: Push Button	\#
    0500Network Device	0501Network Device: Access Point	0502Network Device: Mesh Device	\#
    0503Network Device: Mesh Network Proxy	0540Sensor	0541Sensor: Motion Sensor	0542Sensor: Air Quality Sensor	\#
    0543Sensor: Temperature Sensor	0544Sensor: Humidity Sensor	0545Sensor: Leak Sensor	0546Sensor: Smoke Sensor	\#
    0547Sensor: Occupancy Sensor	0548Sensor: Contact Sensor	0549Sensor: Carbon Monoxide Sensor	\#
    054ASensor: Carbon Dioxide Sensor	054BSensor: Ambient Light Sensor	054CSensor: Energy Sensor	\#
    054DSensor: Color Light Sensor	054ESensor: Rain Sensor	054FSensor: Fire Sensor	0550Sensor: Wind Sensor	\#
    0551Sensor: Proximity Sensor	0552Sensor: Multi Sensor	0553Sensor: Flush Mounted Sensor	\#
    0554Sensor: Ceiling Mounted Sensor	0555Sensor: Wall Mounted Sensor	0556Sensor: Multisensor	0557Sensor: Energy Meter	\#
    0558Sensor: Flame Detector	0559Sensor: Vehicle Tire Pressure Sensor	0580Light Fixtures	0581Light Fixtures: Wall Light	\#
    0582Light Fixtures: Ceiling Light	0583Light Fixtures: Floor Light	0584Light Fixtures: Cabinet Light	\#
    0585Light Fixtures: Desk Light	0586Light Fixtures: Troffer Light	0587Light Fixtures: Pendant Light	\#
    0588Light Fixtures: In Ground Light	0589Light Fixtures: Flood Light	058ALight Fixtures: Underwater Light	\#
    058BLight Fixtures: Bollard With Light	058CLight Fixtures: Pathway Light	058DLight Fixtures: Garden Light	\#
    058ELight Fixtures: Pole Top Light	058FLight Fixtures: Spotlight	0590Light Fixtures: Linear Light	\#
    0591Light Fixtures: Street Light	0592Light Fixtures: Shelves Light	0593Light Fixtures: Bay Light	\#
    0594Light Fixtures: Emergency Exit Light	0595Light Fixtures: Light Controller	0596Light Fixtures: Light Driver	\#
    0597Light Fixtures: Bulb	0598Light Fixtures: Low Bay Light	0599Light Fixtures: High Bay Light	05C0Fan	\#
    05C1Fan: Ceiling Fan	05C2Fan: Axial Fan	05C3Fan: Exhaust Fan	05C4Fan: Pedestal Fan	05C5Fan: Desk Fan	05C6Fan: Wall Fan	\#
    0600HVAC	0601HVAC: Thermostat	0602HVAC: Humidifier	0603HVAC: Dehumidifier	0604HVAC: Heater	0605HVAC: Radiator	\#
    0606HVAC: Boiler	0607HVAC: Heat Pump	0608HVAC: Infrared Heater	0609HVAC: Radiant Panel Heater	060AHVAC: Fan Heater	\#
    060BHVAC: Air Curtain	0640Air Conditioning	0680Humidifier	06C0Heating	06C1Heating: Radiator	06C2Heating: Boiler	\#
    06C3Heating: Heat Pump	06C4Heating: Infrared Heater	06C5Heating: Radiant Panel Heater	06C6Heating: Fan Heater	\#
    06C7Heating: Air Curtain	0700Access Control	0701Access Control: Access Door	0702Access Control: Garage Door	\#
    0703Access Control: Emergency Exit Door	0704Access Control: Access Lock	0705Access Control: Elevator	\#
    0706Access Control: Window	0707Access Control: Entrance Gate	0708Access Control: Door Lock	0709Access Control: Locker	\#
    0740Motorized Device	0741Motorized Device: Motorized Gate	0742Motorized Device: Awning	\#
    0743Motorized Device: Blinds Or Shades	0744Motorized Device: Curtains	0745Motorized Device: Screen	0780Power Device	\#
    0781Power Device: Power Outlet	0782Power Device: Power Strip	0783Power Device: Plug	0784Power Device: Power Supply	\#
    0785Power Device: LED Driver	0786Power Device: Fluorescent Lamp Gear	0787Power Device: HID Lamp Gear	\#
    0788Power Device: Charge Case	0789Power Device: Power Bank	07C0Light Source	07C1Light Source: Incandescent Light Bulb	\#
    07C2Light Source: LED Lamp	07C3Light Source: HID Lamp	07C4Light Source: Fluorescent Lamp	07C5Light Source: LED Array	\#
    07C6Light Source: Multi Color LED Array	07C7Light Source: Low Voltage Halogen	\#
    07C8Light Source: Organic Light Emitting Diode	0800Window Covering	0801Window Covering: Window Shades	\#
    0802Window Covering: Window Blinds	0803Window Covering: Window Awning	0804Window Covering: Window Curtain	\#
    0805Window Covering: Exterior Shutter	0806Window Covering: Exterior Screen	0840Audio Sink	\#
    0841Audio Sink: Standalone Speaker	0842Audio Sink: Soundbar	0843Audio Sink: Bookshelf Speaker	\#
    0844Audio Sink: Standmounted Speaker	0845Audio Sink: Speakerphone	0880Audio Source	0881Audio Source: Microphone	\#
    0882Audio Source: Alarm	0883Audio Source: Bell	0884Audio Source: Horn	0885Audio Source: Broadcasting Device	\#
    0886Audio Source: Service Desk	0887Audio Source: Kiosk	0888Audio Source: Broadcasting Room	0889Audio Source: Auditorium	\#
    08C0Motorized Vehicle	08C1Motorized Vehicle: Car	08C2Motorized Vehicle: Large Goods Vehicle	\#
    08C3Motorized Vehicle: Two Wheeled Vehicle	08C4Motorized Vehicle: Motorbike	08C5Motorized Vehicle: Scooter	\#
    08C6Motorized Vehicle: Moped	08C7Motorized Vehicle: Three Wheeled Vehicle	08C8Motorized Vehicle: Light Vehicle	\#
    08C9Motorized Vehicle: Quad Bike	08CAMotorized Vehicle: Minibus	08CBMotorized Vehicle: Bus	\#
    08CCMotorized Vehicle: Trolley	08CDMotorized Vehicle: Agricultural Vehicle	08CEMotorized Vehicle: Camper Caravan	\#
    08CFMotorized Vehicle: Recreational Vehicle Motor Home	0900Domestic Appliance	0901Domestic Appliance: Refrigerator	\#
    0902Domestic Appliance: Freezer	0903Domestic Appliance: Oven	0904Domestic Appliance: Microwave	\#
    0905Domestic Appliance: Toaster	0906Domestic Appliance: Washing Machine	0907Domestic Appliance: Dryer	\#
    0908Domestic Appliance: Coffee Maker	0909Domestic Appliance: Clothes Iron	090ADomestic Appliance: Curling Iron	\#
    090BDomestic Appliance: Hair Dryer	090CDomestic Appliance: Vacuum Cleaner	\#
    090DDomestic Appliance: Robotic Vacuum Cleaner	090EDomestic Appliance: Rice Cooker	\#
    090FDomestic Appliance: Clothes Steamer	0940Wearable Audio Device	0941Wearable Audio Device: Earbud	\#
    0942Wearable Audio Device: Headset	0943Wearable Audio Device: Headphones	0944Wearable Audio Device: Neck Band	\#
    0980Aircraft	0981Aircraft: Light Aircraft	0982Aircraft: Microlight	0983Aircraft: Paraglider	\#
    0984Aircraft: Large Passenger Aircraft	09C0AV Equipment	09C1AV Equipment: Amplifier	09C2AV Equipment: Receiver	\#
    09C3AV Equipment: Radio	09C4AV Equipment: Tuner	09C5AV Equipment: Turntable	09C6AV Equipment: Cd Player	\#
    09C7AV Equipment: Dvd Player	09C8AV Equipment: Bluray Player	09C9AV Equipment: Optical Disc Player	\#
    09CAAV Equipment: Set Top Box	0A00Display Equipment	0A01Display Equipment: Television	0A02Display Equipment: Monitor	\#
    0A03Display Equipment: Projector	0A40Hearing Aid	0A41Hearing Aid: In Ear Hearing Aid	\#
    0A42Hearing Aid: Behind Ear Hearing Aid	0A43Hearing Aid: Cochlear Implant	0A80Gaming	\#
    0A81Gaming: Home Video Game Console	0A82Gaming: Portable Handheld Console	0AC0Signage	0AC1Signage: Digital Signage	\#
    0AC2Signage: Electronic Label	0C40Pulse Oximeter	0C41Pulse Oximeter: Fingertip Pulse Oximeter	\#
    0C42Pulse Oximeter: Wrist Worn Pulse Oximeter	0C80Weight Scale	0CC0Personal Mobility Device	\#
    0CC1Personal Mobility Device: Powered Wheelchair	0CC2Personal Mobility Device: Mobility Scooter	\#
    0D00Continuous Glucose Monitor	0D40Insulin Pump	0D41Insulin Pump: Insulin Pump Durable Pump	\#
    0D42Insulin Pump: Insulin Pump Patch Pump	0D43Insulin Pump: Insulin Pen	0D80Medication Delivery	0DC0Spirometer	\#
    0DC1Spirometer: Handheld Spirometer	1440Outdoor Sports Activity	1441Outdoor Sports Activity: Location Display	\#
    1442Outdoor Sports Activity: Location And Navigation Display	1443Outdoor Sports Activity: Location Pod	\#
    1444Outdoor Sports Activity: Location And Navigation Pod
    """#
}
