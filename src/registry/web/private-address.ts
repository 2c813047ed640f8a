import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { RegistryError } from '../registry-error.ts'

const v4Networks = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const
const v6Networks = [
  ['::', 96],
  ['fc00::', 7],
  ['fe80::', 9],
  ['ff00::', 8],
] as const

/** What only this machine or its own network can reach, and what no server on the internet can have. */
const privateNetworks = createPrivateNetworks()

function createPrivateNetworks(): BlockList {
  const list = new BlockList()
  for (const [network, bits] of v4Networks) {
    list.addSubnet(network, bits, 'ipv4')
    // The same in IPv6: compatible, and translated (NAT64). Node itself knows ::ffff:127.0.0.1.
    list.addSubnet(`64:ff9b::${network}`, 96 + bits, 'ipv6')
  }
  for (const [network, bits] of v6Networks) list.addSubnet(network, bits, 'ipv6')
  return list
}

export function isPrivateAddress(address: string): boolean {
  return privateNetworks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Throws where the URL has a private address. A name is judged by what it means: see `lookupPublic`. */
export function checkPublic({ hostname }: URL): void {
  const address = hostname.replace(/^\[|\]$/g, '')
  if (isIP(address) !== 0 && isPrivateAddress(address)) throw isPrivate(hostname)
}

/** As node looks up a name, but no private address comes out. What was looked up is what the connection is made to. */
export const lookupPublic: LookupFunction = (hostname, options, done) => {
  lookup(hostname, { ...(options as LookupOptions), all: true }, (error, addresses) => {
    if (error !== null) return done(error, '')
    const [first] = addresses
    if (first === undefined || addresses.some(({ address }) => isPrivateAddress(address)))
      return done(isPrivate(hostname), '')
    if (options.all) done(null, addresses as LookupAddress[])
    else done(null, first.address, first.family)
  })
}

function isPrivate(host: string): RegistryError {
  return new RegistryError(
    `${host} is in a private network, and was named by a reply, not by the configuration; if it belongs to the registry, add it to private_hosts`,
  )
}
