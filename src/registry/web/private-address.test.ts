import { expect, it } from 'vitest'
import { isPrivateAddress } from './private-address.ts'

it.each([
  '127.0.0.1',
  '127.255.0.9',
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '255.255.255.255',
  '::1',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '::127.0.0.1',
  '64:ff9b::10.0.0.1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
])('%s is private', address => {
  expect(isPrivateAddress(address)).toBe(true)
})

it.each(['1.1.1.1', '172.32.0.1', '100.128.0.1', '192.0.2.1', '2606:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101'])(
  '%s is not',
  address => {
    expect(isPrivateAddress(address)).toBe(false)
  },
)
