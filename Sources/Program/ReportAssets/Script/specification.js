/** Where the sections that define fields are on the web. */

/** The public pages of the Core Specification that the references are of. */
const CORE = 'https://www.bluetooth.com/wp-content/uploads/Files/Specification/HTML/Core-62/out/en';

/** The page of each volume and part. Its sections have addresses that cannot be made of their numbers. */
const PAGES = {
  '3A': 'host/logical-link-control-and-adaptation-protocol-specification',
  '3B': 'host/service-discovery-protocol--sdp--specification',
  '3C': 'host/generic-access-profile',
  '3F': 'host/attribute-protocol--att-',
  '3G': 'host/generic-attribute-profile--gatt-',
  '3H': 'host/security-manager-specification',
  '4A': 'host-controller-interface/uart-transport-layer',
  '4E': 'host-controller-interface/host-controller-interface-functional-specification',
  '6B': 'low-energy-controller/link-layer-specification',
};

/** The address of the page that has a section, as in `Vol 4, Part E, 7.8.10`; null if there is none. */
export function sectionAddress(reference) {
  const [, volume, part] = /^Vol (\d), Part ([A-Z]), \d/u.exec(reference) ?? [];
  const page = PAGES[`${volume}${part}`];
  return page ? `${CORE}/${page}.html` : null;
}
