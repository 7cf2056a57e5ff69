import RingLink

extension Sport {
  /// The sport and the sub-sport of FIT's profile; 0 is any.
  var fit: (kind: Int, subKind: Int) {
    switch rawValue {
    case 1, 7, 70: (1, 0)
    case 40: (1, 1)
    case 42: (1, 3)
    case 44: (1, 4)
    case 45: (1, 0)
    case 2, 9, 50: (2, 0)
    case 24: (2, 5)
    case 51: (2, 6)
    case 52: (2, 8)
    case 53: (2, 29)
    case 69: (2, 12)
    case 26: (4, 15)
    case 27: (4, 14)
    case 80, 81: (4, 16)
    case 6: (5, 0)
    case 55: (5, 17)
    case 56: (5, 18)
    case 31: (6, 0)
    case 32: (7, 0)
    case 29: (8, 0)
    case 22, 223, 224, 225: (10, 43)
    case 88: (10, 20)
    case 91, 93: (10, 19)
    case 94: (10, 44)
    case 23, 82: (10, 26)
    case 3, 4, 43: (11, 0)
    case 41: (11, 27)
    case 193: (12, 0)
    case 190, 192: (13, 0)
    case 191: (14, 0)
    case 8, 60: (17, 0)
    case 30: (25, 0)
    case 63: (28, 0)
    case 62: (29, 0)
    case 36: (30, 0)
    case 20, 34: (31, 0)
    case 181: (32, 0)
    case 196, 197: (33, 0)
    case 222: (34, 0)
    case 202: (35, 0)
    case 201: (36, 0)
    case 186: (37, 0)
    case 183: (38, 0)
    case 25: (41, 0)
    case 188: (42, 0)
    case 184: (44, 0)
    case 130: (47, 0)
    case 152: (49, 0)
    case 89: (62, 0)
    case 21: (64, 95)
    case 28: (64, 97)
    case 156: (64, 94)
    case 162: (64, 96)
    case 175: (64, 84)
    case 158: (71, 0)
    case 154: (72, 0)
    case 155, 167: (73, 0)
    case 33, 151: (75, 0)
    case 236: (79, 0)
    case 189: (82, 0)
    case 35, 110...126: (83, 0)
    case 5: (84, 0)
    default: (0, 0)
    }
  }

  /// The sport of a TCX file, which has three.
  var tcx: String {
    switch fit.kind {
    case 1: "Running"
    case 2: "Biking"
    default: "Other"
    }
  }
}
