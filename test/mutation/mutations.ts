import type { Mutation } from './plugin.ts'

export const mutations: readonly Mutation[] = []
