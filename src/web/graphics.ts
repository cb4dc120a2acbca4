export * from '../util/svg.js';
